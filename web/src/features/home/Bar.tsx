import classes from './home.module.css';

/** A part of a whole, in words and as a bar. */
export function Bar({ done, of }: { done: number; of: number }) {
  const share = of > 0 ? done / of : 0;
  return (
    <div className={classes.bar}>
      <div className={classes.track} aria-hidden="true">
        <div className={classes.fill} style={{ width: `${share * 100}%` }} />
      </div>
      <span>
        {done.toLocaleString('en')} <span className={classes.dim}>of {of.toLocaleString('en')}</span>
      </span>
    </div>
  );
}
