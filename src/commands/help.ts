import { programDescription, programName, programOptions } from './program.ts';
import {
  type Argument,
  type CommandEntry,
  listArguments,
  listOptions,
  type Option,
  type Usage,
} from './usage.ts';

type Item = readonly [term: string, text: string];

/** `--help` of the program. Pure. @param width columns of the terminal */
export function programHelp(commands: readonly CommandEntry[], width: number): string {
  const sections = [
    section('Options', programOptions.map(optionItem)),
    section(
      'Commands',
      commands.map(({ name, describe }) => [name, describe]),
    ),
  ];
  const head = `Usage: ${programName} <command> [options]\n\n${wrap(programDescription, width)}\n\n`;
  return `${head}${renderSections(sections, width)}\n`;
}

/** The help of a command without the global options, for the reference. Pure. */
export function commandHelp(name: string, usage: Usage, width: number): string {
  return renderHelp(name, usage, width, []);
}

/** `--help` of a command: its own arguments and options, then those of every command. Pure. */
export function fullCommandHelp({ name, describe }: CommandEntry, usage: Usage, width: number): string {
  return renderHelp(name, usage, width, programOptions, describe);
}

function renderHelp(
  name: string,
  usage: Usage,
  width: number,
  inherited: readonly Option[],
  describe = '',
): string {
  const positional = listArguments(usage);
  const options = listOptions(usage);
  const forms = positional.map(({ form }) => ` ${form}`).join('');
  const hasOptions = options.length + inherited.length > 0;
  const head = `Usage: ${programName} ${name}${hasOptions ? ' [options]' : ''}${forms}\n\n`;
  const sections = [
    section('Arguments', positional.map(argumentItem)),
    section('Options', options.map(optionItem)),
    section('Global options', inherited.map(optionItem)),
  ].filter(({ items }) => items.length > 0);
  const parts = [
    ...(describe === '' ? [] : [wrap(describe, width)]),
    ...(sections.length === 0 ? [] : [renderSections(sections, width)]),
    renderExamples(usage.examples, width),
    ...(usage.notes === undefined ? [] : [wrap(usage.notes, width)]),
  ];
  return `${head}${parts.join('\n\n')}\n`;
}

function argumentItem({ name, describe, choices }: Argument): Item {
  return [name, withFacts(describe, { choices })];
}

function optionItem({ form, describe, choices, default: fallback }: Option): Item {
  return [form, withFacts(describe, { choices, default: fallback })];
}

/** `Folder of the job files (default: "jobs")` */
function withFacts(describe: string, facts: Record<string, unknown>): string {
  const parts = Object.entries(facts).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const text = Array.isArray(value) ? value.map((item) => JSON.stringify(item)).join(', ') : undefined;
    return [`${name}: ${text ?? JSON.stringify(value)}`];
  });
  return parts.length === 0 ? describe : `${describe} (${parts.join(', ')})`;
}

interface Section {
  title: string;
  items: readonly Item[];
}

function section(title: string, items: readonly Item[]): Section {
  return { title, items };
}

/** Terms in one column, their texts in the next, the same for all sections. */
function renderSections(sections: readonly Section[], width: number): string {
  const termWidth = Math.max(...sections.flatMap(({ items }) => items.map(([term]) => term.length)));
  const margin = ' '.repeat(termWidth + 4);
  const rendered = sections.map(({ title, items }) => {
    const lines = items.map(([term, text]) => {
      const textWidth = width - margin.length;
      // Below the term where the space beside it is narrow.
      if (textWidth < 40) return `  ${term}\n${indent(wrap(text, width - 6), 6)}`;
      return `  ${term.padEnd(termWidth)}  ${indent(wrap(text, textWidth), margin.length).trimStart()}`;
    });
    return `${title}:\n${lines.join('\n')}`;
  });
  return rendered.join('\n\n');
}

/** Each example on one line, so that it can be copied. */
function renderExamples(examples: Usage['examples'], width: number): string {
  const lines = Object.entries(examples).map(
    ([line, does]) => `  ${line}\n${indent(wrap(does, width - 6), 6)}`,
  );
  return `Examples:\n${lines.join('\n')}`;
}

function indent(text: string, columns: number): string {
  return text
    .split('\n')
    .map((line) => ' '.repeat(columns) + line)
    .join('\n');
}

/** Breaks lines between words. */
function wrap(text: string, width: number): string {
  const wrapLine = (line: string) => {
    const lines = [''];
    for (const word of line.split(' ')) {
      const last = lines.at(-1)!;
      if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
      else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
    }
    return lines.join('\n');
  };
  return text.split('\n').map(wrapLine).join('\n');
}
