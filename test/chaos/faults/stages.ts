import { type Fault, loopToStart, type Moment } from './faults.ts';
import { type Act, type Asked, answerBytes, type ProxyPlan, type Visit, whole } from './proxy.ts';

/** Where in a run a fault strikes (9). */
export const stages = [
  'first page',
  'middle page',
  'last page',
  'empty page',
  'batch',
  'retry of a retry',
  'commit',
  'export',
  'shutdown',
] as const;

export type Stage = (typeof stages)[number];

/** What an undisturbed run asks for. */
export interface Script {
  /** Names of the pages of the longest list, in order; the last one is empty. */
  pages: readonly string[];
  /** Names of the slices of the batch, which comes in a wave of its own after the lists. */
  slices: readonly string[];
  /** Names of all requests of the lists' wave. */
  lists: ReadonlySet<string>;
}

export interface Cell {
  fault: Fault;
  stage: Stage;
  /** The fault strikes once; else at every attempt, to the end of the run. */
  passes: boolean;
  /** The form a fault of several forms begins with. */
  form: number;
}

/** @param asked the requests of an undisturbed run, oldest first */
export function readScript(asked: readonly Asked[]): Script {
  const batch = asked.filter(({ method }) => method === 'getAssetBatch');
  const lists = asked.filter(({ method }) => method !== 'getAssetBatch');
  const groups = [...new Set(lists.flatMap(({ params }) => params.groupValue ?? []))];
  const walks = groups.map((group) => lists.filter(({ params }) => params.groupValue === group));
  const [longest = []] = walks.sort((a, b) => b.length - a.length);
  return {
    pages: longest.map(({ name }) => name),
    slices: batch.map(({ name }) => name),
    lists: new Set(lists.map(({ name }) => name)),
  };
}

/**
 * What the proxy does in one cell. A fault that strikes
 * - a page or a slice: in place of its answer
 * - a retry of a retry: in place of the answer to the third attempt for a page, after two 503
 * - the commit: while the lists' rows are published, unasked on the connections that are open; and in place of the
 *   first answer after it
 * - the export: unasked, after the last answer of the run
 * - the shutdown: in place of the answer to a page that is asked for when SIGTERM comes
 * @param onShutdown sends SIGTERM
 */
export function planCell(cell: Cell, script: Script, onShutdown: () => void): ProxyPlan {
  const struck = strikes(cell, script);
  const answered = new Set<string>();
  let form = cell.form;
  const strike = (visit: Visit): Promise<Act> | Act => {
    const moment: Moment = { visit, before: pageBefore(script, visit), form, passes: cell.passes };
    form += 1;
    return cell.fault.act(moment);
  };
  const isUnaskedAfter = ({ name }: Asked): boolean => {
    const before = answered.size;
    answered.add(name);
    if (answered.size === before) return false;
    // At the last of the lists only: the slices after it are answered one by one.
    if (cell.stage === 'commit') return script.lists.has(name) && isAll(script.lists, answered);
    return (
      cell.stage === 'export' && isAll(script.lists, answered) && isAll(new Set(script.slices), answered)
    );
  };
  let last: Visit;
  return {
    async answer(visit) {
      last = visit;
      if (visit.params.cursor === loopToStart) {
        const { cursor: _, ...start } = visit.params;
        return whole(await visit.fetchAnswer(start));
      }
      if (cell.stage === 'retry of a retry' && visit.name === script.pages[1] && visit.attempt < 3)
        return { bytes: answerBytes(503, 'Service Unavailable'), after: 'keep' };
      if (!struck(visit)) return null;
      if (cell.stage === 'shutdown') onShutdown();
      return strike(visit);
    },
    afterAnswer: async (asked) => (isUnaskedAfter(asked) ? strike(last) : null),
  };
}

/** Whether a request is answered by the fault. */
function strikes({ stage, passes }: Cell, { pages, slices }: Script): (asked: Asked) => boolean {
  const at = (name: string | undefined, from = 1) => {
    return (asked: Asked) =>
      asked.name === name && asked.attempt >= from && (!passes || asked.attempt === from);
  };
  let met: string | undefined;
  switch (stage) {
    case 'first page':
      return at(pages[0]);
    case 'middle page':
    case 'shutdown':
      return at(pages[1]);
    case 'last page':
      return at(pages.at(-2));
    case 'empty page':
      return at(pages.at(-1));
    case 'batch':
      return at(slices[1]);
    case 'retry of a retry':
      return at(pages[1], 3);
    case 'commit':
      return (asked) => {
        if (!slices.includes(asked.name)) return false;
        met ??= asked.name;
        return at(met)(asked);
      };
    case 'export':
      return () => false;
  }
}

function pageBefore({ pages, slices }: Script, { name, params }: Asked): Record<string, unknown> {
  const list = pages.includes(name) ? pages : slices;
  const before = list[list.indexOf(name) - 1];
  return before === undefined ? params : JSON.parse(before.slice(before.indexOf(' ') + 1));
}

function isAll(expected: ReadonlySet<string>, names: ReadonlySet<string>): boolean {
  return [...expected].every((name) => names.has(name));
}
