import { describe, expect, test } from 'vitest';
import type { Job } from '../../../src/jobs/job.ts';
import type { Target } from '../../../src/jobs/targets.ts';
import { makeIncrementalTask, makeRangeTasks, makeTask, makeUnsplitTask } from '../../../src/jobs/task.ts';
import type { PageLine } from '../../../src/landing/page-line.ts';
import type { LandedCrawl } from '../../../src/landing/reader.ts';
import type { CrawlState } from '../../../src/run/crawl-state.ts';
import { orderStarts, planOrBeginRound, planStarts } from '../../../src/run/plan-starts.ts';
import type { RunEntry } from '../../../src/run/run-log.ts';
import { newJob } from '../../support/jobs.ts';

/** Unix ms of every plan. */
const now = Date.parse('2026-01-31T00:00:00Z');

const lists = newJob('lists', 'getAssetsByGroup', { pageSize: 2 });
const batch = newJob('batch', 'getAssetBatch', { pageSize: 2 });
const feed = newJob('feed', 'getLatestCompressionSignatures', { pageSize: 2 });
const targets: Target[] = ['a', 'b', 'c'].map((name) => ({ name, params: { groupValue: name } }));
const one: Target[] = [{ name: '', params: {} }];
const idOf = (job: Job, target: Target) => makeTask(job, target).id;
const [a, b] = targets as [Target, Target, Target];

function ranAs(run: string, exitCode: number | null): RunEntry {
  const jobs = ['lists', 'batch', 'feed'];
  return { run, verb: 'run', jobs, startedAt: '', finishedAt: null, exitCode, stoppedBy: null };
}

function newState(fields: Partial<CrawlState> = {}): CrawlState {
  return {
    complete: new Map(),
    failed: new Map(),
    coverage: new Map(),
    fresh: new Map(),
    gaps: new Map(),
    landed: new Map(),
    slots: { newest: null, perSecond: 2.5 },
    refuted: new Set(),
    runs: [],
    now,
    ...fields,
  };
}

const completeBy = (run: string, lastIndexedSlot: number | null = 100) => ({
  ...{ lastIndexedSlot, seenSlot: lastIndexedSlot, run, finishedAt: `time of ${run}`, pages: 4, records: 7 },
  firstContent: `first of ${run}`,
  end: 'exhausted',
});

/** A crawl in the landing log: `end` null while it is open. */
function landed(job: Job, target: Target, crawl: string, fields: Partial<LandedCrawl> & { end?: string }) {
  const { end, ...rest } = fields;
  const last = { page: 2, end: end ?? null, last_slot: 50, slot: 90 } as unknown as PageLine;
  const whole: LandedCrawl = {
    ...{ task: idOf(job, target), crawl, job: job.name, target: target.name, operation: '', shape: '' },
    ...{ runs: [crawl], pages: new Set([1, 2]), records: 4, nulls: 0, last, first: last },
    hasEnd: end !== undefined,
    ...{
      minSlot: 90,
      maxSlot: 90,
      reachedSlot: last.last_slot,
      freshSlot: null,
      startedAt: null,
      finishedAt: null,
      slices: new Map(),
      frozen: false,
    },
    failed: null,
    seen: new Map(),
    ...rest,
  };
  return [whole.task, [whole]] as const;
}

const plan = (job: Job, state: CrawlState, ids: string[] | null = null) =>
  planStarts(job, job === lists ? targets : one, ids, state, 'r9').map(({ task, crawl, resume, goal }) => ({
    target: task.target,
    crawl,
    resumes: resume?.crawl ?? null,
    ...goal,
  }));
const fresh = {
  crawl: 'r9',
  resumes: null,
  lastCompleteSlot: null,
  firstContent: null,
  seenSlot: null,
  coveredSlot: null,
};

describe('rounds', () => {
  const complete = new Map([
    [idOf(lists, a), completeBy('r1')],
    [idOf(lists, b), completeBy('r2')],
  ]);

  test('nothing known: every target', () =>
    expect(plan(lists, newState())).toEqual(['a', 'b', 'c'].map((target) => ({ target, ...fresh }))));

  test('after 0 everything again, with the slot below which nothing is new', () =>
    expect(plan(lists, newState({ complete, runs: [ranAs('r1', 75), ranAs('r2', 0)] }))).toEqual([
      {
        target: 'a',
        ...fresh,
        lastCompleteSlot: 100,
        firstContent: 'first of r1',
        seenSlot: 100,
        hadRecords: true,
      },
      {
        target: 'b',
        ...fresh,
        lastCompleteSlot: 100,
        firstContent: 'first of r2',
        seenSlot: 100,
        hadRecords: true,
      },
      { target: 'c', ...fresh },
    ]));

  test.each([
    ['75', 75],
    ['a kill', null],
  ])('after %s what the round has finished is not crawled again', (_, exitCode) => {
    const runs = [ranAs('r0', 0), ranAs('r1', exitCode), ranAs('r2', exitCode)];
    expect(plan(lists, newState({ complete, runs })).map(({ target }) => target)).toEqual(['c']);
  });

  test('what an earlier round has finished is crawled again', () =>
    expect(
      plan(lists, newState({ complete, runs: [ranAs('r1', 0), ranAs('r2', 75)] })).map(
        ({ target }) => target,
      ),
    ).toEqual(['a', 'c']));

  test('ended but not published counts as finished', () => {
    const state = newState({
      landed: new Map([landed(lists, a, 'r1', { end: 'exhausted' })]),
      runs: [ranAs('r1', 75)],
    });
    expect(plan(lists, state).map(({ target }) => target)).toEqual(['b', 'c']);
  });

  test('a failed target is tried again: in the same round after the others, or a complete one would hide it', () => {
    const state = (exitCode: number) =>
      newState({
        failed: new Map([[idOf(lists, a), 'r1']]),
        landed: new Map([landed(lists, b, 'r1', { failed: 'rejected' })]),
        runs: [ranAs('r1', exitCode)],
      });
    const orderOf = (exitCode: number) => {
      const starts = planStarts(lists, targets, null, state(exitCode), 'r9');
      return orderStarts(starts).map(({ task }) => task.target);
    };
    expect(orderOf(75)).toEqual(['c', 'a', 'b']);
    expect(orderOf(77)).toEqual(['c', 'a', 'b']);
    expect(orderOf(3)).toEqual(['a', 'b', 'c']);
  });

  test('an open crawl goes on under its own name', () => {
    const state = newState({ landed: new Map([landed(lists, b, 'r1', {})]), runs: [ranAs('r1', 75)] });
    expect(plan(lists, state)[1]).toEqual({ target: 'b', ...fresh, crawl: 'r1', resumes: 'r1' });
  });

  test('a failed crawl does not go on', () => {
    const state = newState({
      landed: new Map([landed(lists, b, 'r1', { failed: 'x' })]),
      runs: [ranAs('r1', 3)],
    });
    expect(plan(lists, state)[1]).toEqual({ target: 'b', ...fresh });
  });
});

describe('a batch', () => {
  const [, [open]] = landed(batch, one[0]!, 'r1', { slices: new Map(), frozen: true, pages: new Set([1]) });

  test('no ids: nothing to do', () => expect(plan(batch, newState(), [])).toEqual([]));

  test('an old slot says nothing about other ids', () =>
    expect(
      plan(batch, newState({ complete: new Map([[idOf(batch, one[0]!), completeBy('r1')]]) }), ['x']),
    ).toEqual([{ target: '', ...fresh }]));

  test('a frozen list goes on, also when there is no id any more', () =>
    expect(plan(batch, newState({ landed: new Map([[open!.task, [open!]]]) }), [])).toEqual([
      { target: '', ...fresh, crawl: 'r1', resumes: 'r1' },
    ]));

  test('a list that was not frozen in full is made anew', () => {
    const torn = { ...open!, frozen: false, pages: new Set<number>() };
    expect(plan(batch, newState({ landed: new Map([[torn.task, [torn]]]) }), ['x'])).toEqual([
      { target: '', ...fresh },
    ]);
  });
});

/** What is covered of the feed: from a slot to a slot, each. */
const covered = (...slots: [number, number][]): CrawlState['coverage'] =>
  new Map([[idOf(feed, one[0]!), slots.map(([lowSlot, highSlot]) => ({ lowSlot, highSlot }))]]);

describe('a feed', () => {
  const coverage = covered([0, 40]);
  const head = (crawl: string, fields: object) => landed(feed, one[0]!, crawl, fields);

  test('the head, down to the newest covered slot', () =>
    expect(plan(feed, newState({ coverage }))).toEqual([
      { target: '', ...fresh, seenSlot: 40, coveredSlot: 40 },
    ]));

  test('the head down to an open crawl, which goes on down to what is covered', () => {
    const state = newState({ coverage, landed: new Map([head('r1', {})]), runs: [ranAs('r1', 75)] });
    expect(plan(feed, state)).toEqual([
      { target: '', ...fresh, seenSlot: 90, coveredSlot: 90 },
      { target: '', ...fresh, crawl: 'r1', resumes: 'r1', seenSlot: 40, coveredSlot: 40 },
    ]);
  });

  test('a head that is finished in this round does not end the crawls below it', () => {
    const [task, [open]] = head('r1', {});
    const [, [ended]] = head('r2', { end: 'covered' });
    const runs = [ranAs('r1', null), ranAs('r2', null)];
    expect(plan(feed, newState({ coverage, landed: new Map([[task, [open!, ended!]]]), runs }))).toEqual([
      { target: '', ...fresh, crawl: 'r1', resumes: 'r1', seenSlot: 40, coveredSlot: 40 },
    ]);
  });

  test('nobody relies on a head from behind: it went down from nowhere', () => {
    const from = (end: string) => plan(feed, newState({ landed: new Map([head('r1', { end })]) }))[0];
    expect(from('covered')).toMatchObject({ coveredSlot: 90 });
    expect(from('unchanged')).toMatchObject({ coveredSlot: null });
  });

  test('finished in this round, nothing open: nothing to do', () => {
    const state = newState({ landed: new Map([head('r1', { end: 'covered' })]), runs: [ranAs('r1', 75)] });
    expect(plan(feed, state)).toEqual([]);
  });
});

describe('what a feed read too young', () => {
  const key = idOf(feed, one[0]!);
  const young = (lowSlot: number, highSlot: number, run: string) => ({ lowSlot, highSlot, run });
  const state = (runs: RunEntry[], landed: CrawlState['landed'] = new Map()) =>
    newState({
      ...{ runs, landed },
      coverage: covered([0, 40], [60, 100]),
      fresh: new Map([[key, [young(80, 100, 'r2'), young(60, 79, 'r1'), young(30, 40, 'r1')]]]),
      gaps: new Map([[key, [{ highSlot: 59, cursor: 'there', group: null }]]]),
    });
  const slots = (of: CrawlState) =>
    plan(feed, of).map(({ crawl, seenSlot, coveredSlot }) => [crawl, seenSlot, coveredSlot]);

  test('the next round reads again, below a gap too', () =>
    expect(slots(state([ranAs('r1', 75), ranAs('r2', 0)]))).toEqual([
      ['r9', 100, 60],
      ['r9-gap-59', 40, 30],
    ]));

  test('its own round does not, only what an earlier one did', () =>
    expect(slots(state([ranAs('r1', 0), ranAs('r2', 75)]))).toEqual([
      ['r9', 100, 100],
      ['r9-gap-59', 40, 30],
    ]));

  test.each([
    ['r1', 75, 100],
    ['r1', 0, 70],
  ])('also while the crawl is in the log (%s ended with %i)', (crawl, exitCode, coveredSlot) => {
    const first = { page: 1, end: null, last_slot: 50, slot: 100 } as unknown as PageLine;
    const stopped = landed(feed, one[0]!, crawl, { first, freshSlot: 70 });
    const state = newState({ runs: [ranAs(crawl, exitCode)], landed: new Map([stopped]) });
    expect(plan(feed, state)[0]).toMatchObject({ crawl: 'r9', coveredSlot });
  });
});

describe('a feed whose parts touch', () => {
  const key = idOf(feed, one[0]!);

  test('an open crawl that stopped exactly at a covered slot ends there', () => {
    const [task, crawls] = landed(feed, one[0]!, 'r1', {});
    const coverage = covered([20, 50]);
    const resumed = plan(feed, newState({ coverage, landed: new Map([[task, crawls]]) })).at(-1);
    expect(resumed).toMatchObject({ resumes: 'r1', coveredSlot: 50 });
  });

  test('also when its own pages are one interval with what is below', () => {
    const [task, crawls] = landed(feed, one[0]!, 'r1', {});
    const coverage = covered([20, 90]);
    const resumed = plan(feed, newState({ coverage, landed: new Map([[task, crawls]]) })).at(-1);
    expect(resumed).toMatchObject({ resumes: 'r1', coveredSlot: 50 });
  });

  test('a gap that no crawl works on begins at its cursor, down to what is covered below it', () => {
    const coverage = covered([0, 50], [201, 300]);
    const gaps = new Map([[key, [{ highSlot: 200, cursor: 'there', group: null }]]]);
    const state = newState({ coverage, gaps });
    expect(plan(feed, state)).toEqual([
      { target: '', ...fresh, seenSlot: 300, coveredSlot: 300 },
      { target: '', ...fresh, crawl: 'r9-gap-200', seenSlot: 50, coveredSlot: 50 },
    ]);
    const from = planStarts(feed, one, null, state, 'r9').at(-1)?.from;
    expect(from).toEqual({ slot: 200, position: { limit: 2, cursor: 'there' } });
  });
});

describe('a feed whose crawls begin again or share slots', () => {
  const key = idOf(feed, one[0]!);
  const pageAt = (fields: Partial<PageLine>) =>
    ({ page: 2, end: null, last_slot: 50, slot: 90, ...fields }) as unknown as PageLine;
  const openAt = (crawl: string, fields: Partial<LandedCrawl>) => landed(feed, one[0]!, crawl, fields)[1][0];
  const planOf = (crawls: LandedCrawl[], fields: Partial<CrawlState> = {}) =>
    plan(feed, newState({ landed: new Map([[crawls[0]!.task, crawls]]), ...fields })).slice(1);

  test('one that began again at the head goes down to below where it had been', () => {
    const restarted = openAt('r1', { reachedSlot: 50, last: pageAt({ last_slot: 80 }) });
    const coverage = covered([0, 20], [51, 90]);
    expect(planOf([restarted], { coverage })).toMatchObject([{ resumes: 'r1', coveredSlot: 20 }]);
  });

  test('a gap that a crawl from the head is under way to is not begun again', () => {
    const first = pageAt({ page: 1, from_slot: 40 });
    const underWay = openAt('r1-gap-40', { first, reachedSlot: 80, last: pageAt({ last_slot: 80 }) });
    const gaps = new Map([[key, [{ highSlot: 40, cursor: 'gone', group: null }]]]);
    expect(planOf([underWay], { gaps })).toMatchObject([{ crawl: 'r1-gap-40' }]);
    const passed = { ...underWay, reachedSlot: 30, last: pageAt({ last_slot: 30 }) };
    expect(planOf([passed], { gaps })).toMatchObject([{ crawl: 'r1-gap-40' }, { crawl: 'r9-gap-40' }]);
  });

  test('a gap that no cursor leads to is looked for from the head', () => {
    const gaps = new Map([[key, [{ highSlot: 40, cursor: null, group: null }]]]);
    const state = newState({ gaps, coverage: covered([0, 30]) });
    const [, gap] = planStarts(feed, one, null, state, 'r9');
    expect(gap).toMatchObject({ crawl: 'r9-gap-40', from: { slot: 40, position: { limit: 2 } } });
    expect(gap?.goal.coveredSlot).toBe(30);
  });

  test('of two that stand at one slot one goes on', () => {
    const first = pageAt({ page: 1, slot: 50 });
    const both = ['r1', 'r2'].map((crawl) => openAt(crawl, { first }));
    expect(planOf(both)).toMatchObject([
      { crawl: 'r1', coveredSlot: null },
      { crawl: 'r2', coveredSlot: 50 },
    ]);
  });

  test('a gap crawl whose first page came from behind is no place to stop at', () => {
    const first = pageAt({ page: 1, slot: 60, from_slot: 70 });
    const behind = openAt('r1-gap-70', { first, end: 'covered' } as Partial<LandedCrawl>);
    const head = openAt('r2', { first: pageAt({ page: 1, slot: 200 }), reachedSlot: 100 });
    expect(planOf([behind, head])).toMatchObject([{ crawl: 'r2', coveredSlot: null }]);
  });
});

describe('a job with partitions', () => {
  const sortBy = { sortBy: 'id', sortDirection: 'asc' };
  const job: Job = { ...lists, partitions: 3, params: { sortBy } };
  const ranges = makeRangeTasks(job, a);
  const whole = makeUnsplitTask(job, a);
  const planned = (fields: Partial<CrawlState>, of = job) =>
    planStarts(of, [a], null, newState(fields), 'r9').map(({ task, crawl, resume }) => ({
      ...{ range: task.range?.number ?? null, crawl, resumes: resume?.crawl ?? null },
    }));
  const fresh = (range: number | null) => ({ range, crawl: 'r9', resumes: null });

  test('its tasks are not those of a job without, nor of another number', () => {
    const others = [makeTask({ ...job, partitions: 1 }, a), makeTask({ ...job, params: {} }, a)];
    const fewer = { ...job, partitions: 2 };
    const tasks = [...ranges, whole, ...others, ...makeRangeTasks(fewer, a), makeUnsplitTask(fewer, a)];
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
    expect(whole.params).toEqual({ groupValue: 'a' });
  });

  test('every range, which share what is found out about the source', () => {
    expect(planned({})).toEqual([1, 2, 3].map(fresh));
    const [one, two] = planStarts(job, [a], null, newState(), 'r9');
    expect(one?.split).toBe(two?.split);
    expect(one?.split).toMatchObject({
      refused: false,
      whole: { crawl: 'r9-whole', task: { id: whole.id } },
    });
  });

  test('a range at a time: what is finished in the round is left out, what is open goes on', () => {
    const [task, [crawl]] = landed(lists, a, 'r1', { task: ranges[1]!.id });
    expect(task).toBe(ranges[1]!.id);
    const complete = new Map([[ranges[0]!.id, completeBy('r1')]]);
    const state = { complete, landed: new Map([[task, [crawl!]]]), runs: [ranAs('r1', 75)] };
    expect(planned(state)).toEqual([{ range: 2, crawl: 'r1', resumes: 'r1' }, fresh(3)]);
  });

  test.each(['complete', 'failed', 'open'])('the whole, once that was walked: %s', (how) => {
    const state = {
      complete: { complete: new Map([[whole.id, completeBy('r1')]]) },
      failed: { failed: new Map([[whole.id, 'r1']]) },
      open: { landed: new Map([landed(lists, a, 'r1-whole', { task: whole.id })]) },
    }[how] as Partial<CrawlState>;
    const resumed = { range: null, crawl: 'r1-whole', resumes: 'r1-whole' };
    expect(planned(state)).toEqual([how === 'open' ? resumed : fresh(null)]);
    expect(planned(state, { ...job, partitions: 2 })).toEqual([1, 2].map(fresh));
    expect(planned({ ...state, runs: [ranAs('r1', 75)] }).length).toBe(how === 'complete' ? 0 : 1);
  });

  test('an open walk of the whole goes before what was never crawled, though the ranges failed in this round', () => {
    const [, [refused]] = landed(lists, a, 'r1', { task: whole.id, failed: 'no ranges' });
    const [, [open]] = landed(lists, a, 'r1-whole', { task: whole.id });
    const state = newState({ landed: new Map([[whole.id, [refused!, open!]]]), runs: [ranAs('r1', 75)] });
    const order = orderStarts(planStarts(job, [b, a], null, state, 'r9'));
    expect(order.map(({ task }) => [task.target, task.range?.number ?? null])).toEqual([
      ['a', null],
      ...[1, 2, 3].map((range) => ['b', range]),
    ]);
  });
});

test('orderStarts: open, never crawled, oldest checkpoint first', () => {
  const complete = new Map([
    [idOf(lists, a), completeBy('r2')],
    [idOf(lists, b), completeBy('r1')],
  ]);
  const open = { name: 'd', params: { groupValue: 'd' } };
  const state = newState({
    complete,
    landed: new Map([landed(lists, open, 'r1', {})]),
    runs: [ranAs('r2', 0)],
  });
  const starts = planStarts(lists, [...targets, open], null, state, 'r9');
  expect(orderStarts(starts).map(({ task }) => task.target)).toEqual(['d', 'c', 'b', 'a']);
});

test('orderStarts: jobs take turns, so that a small one does not wait for a giant one', () => {
  const many = Array.from({ length: 4 }, (_, n) => ({ name: `t${n}`, params: { groupValue: `t${n}` } }));
  const small = newJob('small', 'getAssetsByGroup', { pageSize: 2 });
  const state = newState({});
  const starts = [
    ...planStarts(lists, many, null, state, 'r9'),
    ...planStarts(small, many.slice(0, 2), null, state, 'r9'),
  ];
  const order = orderStarts(starts).map(({ task }) => `${task.job} ${task.target}`);
  expect(order).toEqual(['lists t0', 'small t0', 'lists t1', 'small t1', 'lists t2', 'lists t3']);
});

describe('an incremental job', () => {
  const day = 86_400_000;
  const sortBy = { sortBy: 'updated', sortDirection: 'desc' };
  const job: Job = { ...lists, mode: 'incremental', fullEveryMs: 7 * day, params: { sortBy } };
  const full = makeTask(job, a);
  const recent = makeIncrementalTask(job, a);
  const days = (ago: number) => new Date(now - ago * day).toISOString();
  const complete = (ago: number, lastIndexedSlot: number | null, pages: number, run = 'r1') => ({
    ...{ lastIndexedSlot, seenSlot: lastIndexedSlot, run, finishedAt: days(ago), pages, records: pages * 2 },
    firstContent: `first of ${run}`,
    end: 'exhausted',
  });
  const planned = (fields: Partial<CrawlState>) => {
    const state = newState(fields);
    return planStarts(job, [a], null, state, 'r9').map(({ task, resume, goal, expected, ...start }) => ({
      ...{ incremental: task.incremental, resumes: resume?.crawl ?? null, slot: goal.lastCompleteSlot },
      ...{ seenSlot: goal.seenSlot },
      ...{ pages: expected?.pages ?? null, saves: start.fullPages, completedAt: start.completedAt },
    }));
  };

  test('its two tasks are not those of a full job that sorts', () => {
    expect(full).toMatchObject({ incremental: false, params: { groupValue: 'a' } });
    expect('sortBy' in full.params).toBe(false);
    expect(recent).toMatchObject({ incremental: true, params: { groupValue: 'a', sortBy } });
    const sorted = makeTask({ ...job, mode: 'full' }, a);
    expect(new Set([full.id, recent.id, sorted.id]).size).toBe(3);
    // Another mode does not throw away what was crawled in full.
    expect(makeTask({ ...job, mode: 'full', params: {} }, a).id).toBe(full.id);
  });

  test('never crawled: all of it', () =>
    expect(planned({})).toEqual([
      {
        incremental: false,
        resumes: null,
        slot: null,
        seenSlot: null,
        pages: null,
        saves: null,
        completedAt: null,
      },
    ]));

  test('a full crawl is there: only what changed, down from the slot that either has seen', () => {
    const whole = complete(2, 100, 50);
    expect(planned({ complete: new Map([[full.id, whole]]) })).toEqual([
      {
        incremental: true,
        resumes: null,
        slot: 100,
        seenSlot: 100,
        pages: 1,
        saves: 50,
        completedAt: days(2),
      },
    ]);
    const both = new Map([
      [full.id, whole],
      [recent.id, complete(1, 200, 3)],
    ]);
    expect(planned({ complete: both })).toEqual([
      {
        incremental: true,
        resumes: null,
        slot: 200,
        seenSlot: 200,
        pages: 3,
        saves: 50,
        completedAt: days(1),
      },
    ]);
  });

  test('without slots too', () =>
    expect(planned({ complete: new Map([[full.id, complete(2, null, 50)]]) })).toMatchObject([
      { incremental: true, slot: null },
    ]));

  test('the full crawl is as old as full_every: all of it, whose first page must be newer than the last full one', () => {
    const both = new Map([
      [full.id, complete(7, 100, 50)],
      [recent.id, complete(1, 200, 3)],
    ]);
    expect(planned({ complete: both })).toMatchObject([
      { incremental: false, slot: 100, seenSlot: 200, pages: 50 },
    ]);
  });

  test('an open crawl goes on, the full one first, whatever is due', () => {
    const open = (task: { id: string }, crawl: string) => {
      const [, crawls] = landed(job, a, crawl, {});
      return [task.id, crawls.map((one) => ({ ...one, task: task.id }))] as const;
    };
    const whole = new Map([[full.id, complete(30, 100, 50)]]);
    expect(planned({ complete: whole, landed: new Map([open(recent, 'r5')]) })).toMatchObject([
      { incremental: true, resumes: 'r5' },
    ]);
    expect(planned({ landed: new Map([open(recent, 'r5'), open(full, 'r6')]) })).toMatchObject([
      { incremental: false, resumes: 'r6' },
    ]);
  });

  test('a target is finished in a round when either of its tasks is', () => {
    const runs = [ranAs('r8', 75)];
    const old = complete(2, 100, 50);
    const now = (run: string) => ({ ...old, run });
    expect(planned({ runs, complete: new Map([[full.id, now('r8')]]) })).toEqual([]);
    const seen = new Map([
      [full.id, old],
      [recent.id, now('r8')],
    ]);
    expect(planned({ runs, complete: seen })).toEqual([]);
    expect(planned({ runs, complete: new Map([[full.id, old]]) }).length).toBe(1);
    expect(planned({ runs, failed: new Map([[recent.id, 'r8']]) }).length).toBe(1);
  });
});

describe('a job that somebody named', () => {
  const stopped = newState({
    runs: [ranAs('r1', 75), ranAs('r2', null)],
    complete: new Map([
      [idOf(lists, a), completeBy('r1')],
      [idOf(lists, b), completeBy('r1')],
    ]),
  });

  test('begins a new round when its targets are complete, although the last run stopped', () => {
    expect(planStarts(lists, [a, b], null, stopped, 'r2')).toEqual([]);
    const { starts, begins } = planOrBeginRound(lists, [a, b], null, stopped, 'r2');
    expect(starts.map(({ task }) => task.id)).toEqual([idOf(lists, a), idOf(lists, b)]);
    expect(starts.map(({ goal }) => goal.lastCompleteSlot)).toEqual([100, 100]);
    expect(begins).toBe(true);
  });

  test('goes on with its round while a target of its own is missing', () => {
    const { starts, begins } = planOrBeginRound(lists, targets, null, stopped, 'r2');
    expect(starts.map(({ task }) => task.target)).toEqual(['c']);
    expect(begins).toBe(false);
  });

  test('is planned again by the same run without another round', () => {
    const begun = { ...ranAs('r2', null), begins: ['lists'] };
    const complete = new Map([...stopped.complete, [idOf(lists, a), completeBy('r2')]] as const);
    const again = { ...stopped, runs: [ranAs('r1', 75), begun], complete };
    expect(planOrBeginRound(lists, [a, b], null, again, 'r2').starts.map(({ task }) => task.target)).toEqual([
      'b',
    ]);
    const ended = { ...again, complete: new Map([...complete, [idOf(lists, b), completeBy('r2')]] as const) };
    expect(planOrBeginRound(lists, [a, b], null, ended, 'r2')).toEqual({ starts: [], begins: false });
    // A run after it that nobody named the job in goes on with that round.
    const next = { ...again, runs: [ranAs('r1', 75), { ...begun, exitCode: 75 }, ranAs('r3', null)] };
    expect(planStarts(lists, [a, b], null, next, 'r3').map(({ task }) => task.target)).toEqual(['b']);
  });
});
