import { isUtf8 } from 'node:buffer';

/**
 * Takes a secret out of an answer before anything reads it: a member of that name, at any depth and however its
 * name is written (`authHeader`, `auth_header`, with escapes), becomes `"<flag>":true`, or false where it held
 * nothing. Every other byte stays. A body that begins like JSON and is none is dropped whole: what cannot be read
 * cannot be searched.
 */
export function dropSecretMember(body: Buffer, secret: { name: string; flag: string }): Buffer {
  const text = isUtf8(body) ? body.toString('utf8') : '';
  if (/^\s*[^\s{["\uFEFF]/.test(text)) return body;
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return Buffer.alloc(0);
  }
  return Buffer.from(replaceMembers(text, secret));
}

/** @param text valid JSON */
function replaceMembers(text: string, { name, flag }: { name: string; flag: string }): string {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
  const parts: string[] = [];
  let kept = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [key] = match;
    if (!key.startsWith('"') || !isNamed(key, name) || !/^\s*:/.test(text.slice(token.lastIndex))) continue;
    const keyEnd = token.lastIndex;
    token.exec(text);
    const [valueStart, valueEnd] = passValue(text, token);
    const isEmpty = /^(null|""|false)$/.test(text.slice(valueStart, valueEnd));
    parts.push(text.slice(kept, match.index), JSON.stringify(flag), text.slice(keyEnd, valueStart));
    parts.push(String(!isEmpty));
    kept = valueEnd;
  }
  return parts.join('') + text.slice(kept);
}

function isNamed(key: string, name: string): boolean {
  const plain = (word: string) => word.toLowerCase().replace(/[_-]/g, '');
  return plain(JSON.parse(key) as string) === plain(name);
}

/** Passes the value whose first token comes next. @returns where it begins and ends */
function passValue(text: string, token: RegExp): [start: number, end: number] {
  let start = -1;
  let depth = 0;
  do {
    const match = token.exec(text);
    if (match === null) throw new Error('a value ends before the text');
    if (start === -1) start = match.index;
    if (/^[{[]/.test(match[0])) depth += 1;
    else if (/^[}\]]/.test(match[0])) depth -= 1;
  } while (depth > 0);
  return [start, token.lastIndex];
}
