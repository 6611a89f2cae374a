// What JSON reads as a number is a float64: one of more than some 15 digits becomes another, which nobody typed.

const numeral = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether a text is one number, of however many digits. */
export function isNumeral(text: string): boolean {
  return numeral.test(text);
}

/** Whether a text is a number that JSON writes back with the same value. */
export function isKept(text: string): boolean {
  const value = decimal(text);
  return value !== undefined && value === decimal(String(Number(text)));
}

/** The texts and the numbers of JSON. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Whether that is so for every number in a valid JSON text. */
export function allKept(json: string): boolean {
  return [...json.matchAll(tokens)].every((m) => m[0].startsWith('"') || isKept(m[0]));
}

/** The exact value in one form for all its spellings: the digits between the outer zeros, and the power of ten. */
function decimal(text: string): string | undefined {
  const match = numeral.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', power = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  if (end === 0) return '0';
  return `${sign}${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`;
}
