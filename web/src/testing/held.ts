/** An answer that is held back until it is given. */
export function held() {
  let give = (_: unknown) => {};
  const answer = new Promise((done) => {
    give = done;
  });
  return { answer, give };
}
