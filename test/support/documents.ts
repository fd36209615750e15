import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Text of a file below the repository's root. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Every document people read: Markdown at the root, in docs/ and in data/. */
export function listDocuments(): string[] {
  const below = (dir: string) =>
    readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' }).map((path) => join(dir, path));
  return [...readdirSync(root), ...below('docs'), 'data/README.md'].filter((path) => path.endsWith('.md'));
}

/** Fenced blocks of one language, in order. */
export function listBlocks(path: string, language: string): string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm');
  return [...readText(path).matchAll(fence)].map(([, , block]) => block!);
}

/** Links of a document that lead nowhere: missing files, missing headings. */
export function listDeadLinks(path: string): string[] {
  const links = [...prose(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(path, link));
}

/** Files of the repository that a document names in backticks and that are not there. */
export function listMissingFiles(path: string): string[] {
  const names = [...prose(path).matchAll(/`((?:src|test|sql|jobs|docs|bench|scripts)\/[\w./-]+)`/g)];
  return names.map(([, name]) => name!).filter((name) => !existsSync(join(root, name)));
}

function leadsSomewhere(from: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? from : relative(root, join(root, dirname(from), file));
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || listAnchors(target).includes(heading);
}

/** Anchors of a document's headings, as Git hosts make them. */
function listAnchors(path: string): string[] {
  const headings = [...prose(path).matchAll(/^#+ (.*)$/gm)];
  return headings.map(([, text]) =>
    text!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** A document without its fenced blocks. */
function prose(path: string): string {
  return readText(path).replace(/^ *```[\s\S]*?^ *```$/gm, '');
}
