import classes from './Initials.module.css';

/** A person as a circle with the first letters of their first and last name. Words beside it name them. */
export function Initials({ name, size = 28 }: { name: string; size?: number }) {
  return (
    <span
      className={classes.circle}
      style={{ width: size, height: size, fontSize: Math.round(size * 0.4) }}
      aria-hidden="true"
    >
      {initials(name)}
    </span>
  );
}

export function initials(name: string): string {
  const words = name.trim().split(/\s+/).filter(Boolean);
  const first = [...(words[0] ?? '?')];
  const letters = words.length > 1 ? [first[0], [...(words[words.length - 1] ?? '')][0]] : first.slice(0, 2);
  return letters.join('').toUpperCase();
}
