import { lazy, Suspense } from 'react';
import { chunk } from '@/lib/chunk';
import { Fallback } from './Fallback';
import classes from './Markdown.module.css';

const Rendered = lazy(chunk(() => import('./MarkdownRendered')));

/**
 * Markdown that somebody wrote, made harmless: no HTML, no scripts, links to the web only, images as links. Until the
 * renderer has come, or when it cannot come, the text stands as it was written.
 */
export function Markdown({ children }: { children: string }) {
  const plain = <div className={classes.plain}>{children}</div>;
  return (
    <div className={classes.prose}>
      <Fallback show={plain}>
        <Suspense fallback={plain}>
          <Rendered text={children} />
        </Suspense>
      </Fallback>
    </div>
  );
}
