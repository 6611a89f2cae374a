import { useEffect, useState } from 'react';

/** A short name of a text, to see that it changed. */
export function fingerprint(text: string): string {
  let h = 5381;
  for (let i = 0; i < text.length; i++) h = ((h * 33) ^ text.charCodeAt(i)) >>> 0;
  return `${h.toString(36)}.${text.length}`;
}

function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/**
 * The instructions stand open when the person sees them for the first time or they changed; later they are one key
 * away.
 */
export function useInstructions(user: number, pipeline: number, node: string, text: string) {
  const key = `taskloom.instructions.${user}.${pipeline}.${node}`;
  const [before] = useState(() => remembered(key));
  const known = before === fingerprint(text);
  const [open, setOpen] = useState(text !== '' && !known);
  useEffect(() => {
    try {
      if (text) localStorage.setItem(key, fingerprint(text));
    } catch {
      // Then they are open the next time, too.
    }
  }, [key, text]);
  return { open: open && text !== '', changed: before !== null && !known, show: setOpen, any: text !== '' };
}
