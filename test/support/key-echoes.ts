/** A key as a server may give it back, by the name of the encoding. Shares no code with what looks for it. */
export function echoesOf(key: string): Record<string, string> {
  const chars = [...key];
  const code = (char: string) => char.charCodeAt(0).toString(16).padStart(2, '0');
  const base64 = (before: string) => Buffer.from(`${before}${key}`).toString('base64');
  return {
    raw: key,
    'upper case': key.toUpperCase(),
    'percent-encoded': encodeURIComponent(key),
    'percent-encoded, lower case': encodeURIComponent(key).replace(/%../g, (hex) => hex.toLowerCase()),
    'every character percent-encoded': chars.map((char) => `%${code(char)}`).join(''),
    'JSON, slashes escaped': key.replaceAll('/', '\\/'),
    JSON: JSON.stringify(key).slice(1, -1),
    'JSON text in JSON': JSON.stringify(JSON.stringify(key)).slice(3, -3),
    'JSON, every character escaped': chars.map((char) => `\\u00${code(char)}`).join(''),
    'JSON, some characters escaped': chars
      .map((char, n) => (n % 3 === 1 ? `\\u00${code(char).toUpperCase()}` : char))
      .join(''),
    'JSON in JSON': chars.map((char) => `\\\\u00${code(char)}`).join(''),
    base64: base64(''),
    'base64 behind one byte': base64('x'),
    'base64 behind two bytes': base64('xy'),
    'base64 in JSON': base64('').replaceAll('/', '\\/'),
    base64url: Buffer.from(key).toString('base64url'),
    hex: Buffer.from(key).toString('hex'),
    'hex, upper case': Buffer.from(key).toString('hex').toUpperCase(),
    reversed: chars.reverse().join(''),
  };
}
