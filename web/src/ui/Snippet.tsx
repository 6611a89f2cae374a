import { Copy } from './Copy';
import classes from './Snippet.module.css';

/** A piece of text for another program: a command, a key, a link. */
export function Snippet({ text, what, wrap }: { text: string; what: string; wrap?: boolean }) {
  return (
    <div className={classes.box}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, which takes the focus of a keyboard */}
      <section className={classes.text} data-wrap={wrap || undefined} tabIndex={0} aria-label={what}>
        <pre>{text}</pre>
      </section>
      <div className={classes.copy}>
        <Copy text={text} what={what} />
      </div>
    </div>
  );
}
