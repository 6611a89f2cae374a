/** So begins the name of everything that the app keeps in the browser. */
const prefix = 'taskloom.';

/**
 * Erases what the app keeps in this browser, of everybody who worked in it. The answer to a logout tells the browser to
 * clear itself, too, but over plain HTTP none obeys.
 */
export function eraseKept() {
  erase(() => localStorage);
  erase(() => sessionStorage);
}

function erase(find: () => Storage) {
  try {
    const storage = find();
    for (const key of Object.keys(storage)) if (key.startsWith(prefix)) storage.removeItem(key);
  } catch {
    // Storage that cannot be used holds nothing.
  }
}
