import { readFileSync } from 'node:fs';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { renderPipeline } from '../../../scripts/pipeline-svg.ts';
import { createTerminalScreen } from '../../../scripts/terminal-screen.ts';
import { renderTerminals, type Transcript } from '../../../scripts/terminal-svg.ts';
import { readText } from '../../support/documents.ts';

const readTranscript = (columns: number) =>
  JSON.parse(
    readFileSync(new URL(`../../fixtures/terminal/${columns}.json`, import.meta.url), 'utf8'),
  ) as Transcript;

test.each([40, 80, 120])(
  'the picture of a terminal of %i columns is drawn from what one showed',
  (columns) => {
    const transcript = readTranscript(columns);
    expect(readText(`docs/pictures/terminal-${columns}.svg`)).toBe(renderTerminals(transcript));
    const lines = transcript.screens.flatMap((screen) => screen.lines);
    expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
    const [during = [], end = []] = transcript.screens.map((screen) => screen.lines);
    expect(during.some((line) => /░.* ETA \d+ s/.test(line))).toBe(true);
    expect(end.some((line) => line.startsWith('what changed:'))).toBe(true);
  },
);

test('the picture of the pipeline is the one that is drawn', () => {
  expect(readText('docs/pictures/pipeline.svg')).toBe(renderPipeline());
});

test('every piece of a row stands in its columns', () => {
  const svg = renderTerminals({ columns: 20, screens: [{ title: 'a & b', lines: ['list  ██░░  1/2 <x>'] }] });
  expect(
    [...svg.matchAll(/<(?:rect class="(?:done|left)"|text class="text") x="(\d+)"/g)].map(([, x]) => x),
  ).toEqual(['14', '62', '78', '110']);
  expect(svg).toContain('>1/2 &lt;x&gt;</text>');
  expect(svg).toContain('>a &amp; b</text>');
});

test('the terminal that is drawn from does what a terminal does', () => {
  const screen = createTerminalScreen(10);
  screen.write('one\r\ntwo\r\n');
  screen.write('\u001b[1A\r\u001b[Jlonger than ten\r\n');
  expect(screen.lines()).toEqual(['one', 'longer tha', 'n ten']);
  screen.write('\u001b[2A\r\u001b[Jx名y');
  expect(screen.lines()).toEqual(['one', 'x名y']);
  expect(() => screen.write('\u001b[31m')).toThrow('unknown sequence CSI 31m');
});
