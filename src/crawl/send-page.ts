import { ApiError, BrokenAnswer, TooBigAnswer } from '../api/api-errors.ts';
import type { Task } from '../jobs/task.ts';
import { OPEN_OBJECT } from '../landing/json-scanner.ts';
import { maxEnvelopeBytes } from '../landing/page-line.ts';
import { type SplitPage, splitPage } from '../landing/split.ts';
import type { Operation } from '../operations/operation.ts';
import { SlotAhead } from './crawl-failures.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { isNull, noData, type ReceivedPage, receivePage } from './page.ts';

/** How a page is asked for. */
export interface PageAsk {
  /** The parameters that choose the page, as sent, and the most records they ask for. Called for each attempt. */
  choose(): { where: Record<string, unknown>; count: number };
  /** So many did not come in time. */
  onSlow?(count: number): void;
}

/** Attempts at one size that are not answered in time before less is asked for: a gateway's 504 may pass once. */
const attemptsAtOneSize = 2;

/** A page that is doubtful, or whose slot is too far ahead, is asked for so many times in all, … */
export const maxAsked = 3;
/** … with a wait below this before each; the index lags two or three seconds (API notes), other replicas less. */
const askAgainMs = 600;

/**
 * Lands a page before another request may take this one's place.
 * @param isLast whether the page will not be asked for again
 * @returns null for a page that is doubtful: asked for again, and nothing of it kept
 */
type Keep<T> = (page: ReceivedPage, receivedAt: Date, isLast: boolean) => Promise<T | null>;

/**
 * Asks for one page until it can be kept, and returns what `keep` made of it.
 * @throws SlotAhead when its slot cannot be right, as often as it is asked for
 */
export async function sendPage<T>(
  start: TaskStart,
  deps: CrawlDeps,
  ask: PageAsk,
  keep: Keep<T>,
): Promise<T> {
  const { sleep, random } = deps.timing;
  const waitAfter = (asked: number) => sleep(askAgainMs * asked * (0.5 + random() / 2));
  let [ahead, doubtful] = [0, 0];
  for (;;) {
    try {
      const isLast = doubtful + 1 === maxAsked;
      const kept = await askOnce(start, deps, ask, (page, receivedAt) => keep(page, receivedAt, isLast));
      if (kept !== null) return kept;
      [ahead, doubtful] = [0, doubtful + 1];
      await waitAfter(doubtful);
    } catch (error) {
      ahead += 1;
      if (!(error instanceof SlotAhead) || ahead === maxAsked) throw error;
      await waitAfter(ahead);
    }
  }
}

async function askOnce<T>(
  { task }: TaskStart,
  deps: CrawlDeps,
  ask: PageAsk,
  keep: (page: ReceivedPage, receivedAt: Date) => Promise<T>,
): Promise<T> {
  const { operation } = task;
  const size = { count: 0, attempts: 0 };
  const params = () => {
    const { where, count } = ask.choose();
    size.attempts = count === size.count ? size.attempts + 1 : 1;
    size.count = count;
    return { ...task.params, ...where };
  };
  // A probe shows it at once: all others wait for it.
  const askLess = (isProbe: boolean) => {
    if (size.count <= 1 || !(isProbe || size.attempts >= attemptsAtOneSize)) return false;
    ask.onSlow?.(size.count);
    return true;
  };
  const kept: T[] = [];
  try {
    await deps.client.send(operation, params, (body) => splitAnswer(body, operation), {
      share: task.job,
      askLess,
      keep: async (page, receivedAt) => {
        const slotCeiling = deps.slots.at(receivedAt.getTime());
        const received = { ...receivePage(operation, page), slotCeiling };
        believeSlot(received, receivedAt, task, deps);
        kept.push(await keep(received, receivedAt));
      },
    });
  } catch (error) {
    // "Nothing under this id" is an answer: it lands as an empty page, so it is not asked for again in this round.
    if (!isNoData(error)) throw error;
    // Said of many ids at once, it may be true of one of them: they are asked for in parts.
    if (operation.transport === 'rpc' && operation.paging === 'batch' && size.count > 1) throw error;
    const now = new Date(deps.client.clock.correct(Date.now()));
    kept.push(await keep({ ...noData, slotCeiling: deps.slots.at(now.getTime()) }, now));
  }
  return kept[0] as T;
}

/** @throws SlotAhead for a slot that cannot be right, unless somebody said that it is */
function believeSlot(
  { slot, slotCeiling }: ReceivedPage,
  receivedAt: Date,
  task: Task,
  { slots, acceptsAhead }: CrawlDeps,
): void {
  if (slot === null) return;
  if (slot > slotCeiling && !acceptsAhead(task)) {
    const target = task.target === '' ? '' : `/${task.target}`;
    throw new SlotAhead(
      `the answer says it is at slot ${slot}, and ${slotCeiling} is the highest that the time since the last answer allows; if that is right: run --accept-ahead ${task.job}${target}`,
    );
  }
  slots.saw(slot, receivedAt.getTime());
}

/** Whether the API said that there is nothing under what was asked for. */
export function isNoData(error: unknown): boolean {
  return error instanceof ApiError && error.kind === 'no_data';
}

/** @throws MalformedPage for what has to be asked for again; TooBigAnswer for what no page line can hold */
function splitAnswer(body: Buffer, operation: Operation): SplitPage {
  const page = splitPage(body, operation.records);
  refuseOtherForm(page, operation);
  const around = Buffer.byteLength(JSON.stringify(page.envelopeText));
  if (around > maxEnvelopeBytes)
    throw new TooBigAnswer(
      `the answer has ${inMegabytes(around)} MB beside its records, at most ${inMegabytes(maxEnvelopeBytes)} MB are taken`,
    );
  return page;
}

/** @throws BrokenAnswer where something else stands in the place of the one record */
function refuseOtherForm(
  { records: [record] }: SplitPage,
  { records: { form }, mayBeUnknown }: Operation,
): void {
  if (form !== 'single' || record === undefined || (mayBeUnknown && isNull(record))) return;
  if (record.bytes[0] !== OPEN_OBJECT) throw new BrokenAnswer('the answer has no record where it belongs');
}

function inMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
