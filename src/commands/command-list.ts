import type { CommandEntry } from './usage.ts';

export const commandList: readonly CommandEntry[] = [
  {
    name: 'run',
    describe: 'Crawl, load, publish and export',
    load: async () => (await import('./run-jobs.ts')).runCommand,
  },
  {
    name: 'crawl',
    describe: 'Only crawl: receive pages into the landing log',
    load: async () => (await import('./run-jobs.ts')).crawlCommand,
  },
  { name: 'load', describe: 'Only load: turn landed pages into typed rows', load: () => import('./load.ts') },
  {
    name: 'publish',
    describe: 'Only publish: apply typed rows to the tables and the snapshot',
    load: () => import('./publish.ts'),
  },
  {
    name: 'export',
    describe: 'Write the snapshot as Parquet datasets',
    load: () => import('./export.ts'),
  },
  {
    name: 'lake',
    describe: 'The lake itself: install what its format needs, vacuum old versions',
    load: () => import('./lake.ts'),
  },
  {
    name: 'plan',
    describe: 'What a run would request and cost; sends no request',
    load: () => import('./plan.ts'),
  },
  { name: 'status', describe: 'Show how far every job is', load: () => import('./status.ts') },
  {
    name: 'check',
    describe: 'Test whether every job is complete, fresh and published; for monitoring',
    load: () => import('./check.ts'),
  },
  {
    name: 'source',
    describe: 'Show the API that a data folder is bound to, or move it to another URL',
    load: () => import('./source.ts'),
  },
  {
    name: 'report',
    describe: 'Write an HTML page about one run, or many',
    load: () => import('./report.ts'),
  },
  { name: 'runs', describe: 'List the runs so far and what they cost', load: () => import('./runs.ts') },
  { name: 'sql', describe: 'Query the snapshot, read-only', load: () => import('./sql.ts') },
  {
    name: 'call',
    describe: 'Send one request and print the answer byte for byte',
    load: () => import('./call.ts'),
  },
  {
    name: 'webhook',
    describe: 'Enable or disable a webhook',
    load: () => import('./webhook.ts'),
  },
  { name: 'methods', describe: 'List the operations of the API', load: () => import('./methods.ts') },
  {
    name: 'tables',
    describe: 'List tables and columns with their meaning',
    load: () => import('./tables.ts'),
  },
  {
    name: 'explain',
    describe: 'Show where a row comes from, and why it has its values',
    load: () => import('./explain.ts'),
  },
  {
    name: 'quarantine',
    describe: 'Values and records that did not fit: list, show, retry',
    load: () => import('./quarantine.ts'),
  },
  {
    name: 'doctor',
    describe: 'Find problems of this installation and its data folder',
    load: () => import('./doctor.ts'),
  },
  {
    name: 'clean',
    describe: 'Remove raw records older than keep_raw_days, and leftovers',
    load: () => import('./clean.ts'),
  },
  {
    name: 'reload',
    describe: 'Read the raw records again after a change of the mapping',
    load: () => import('./reload.ts'),
  },
  {
    name: 'rebuild',
    describe: 'Rebuild the tables from what was received',
    load: () => import('./rebuild.ts'),
  },
  { name: 'init', describe: 'Begin a project: config, jobs, targets', load: () => import('./init.ts') },
  { name: 'state', describe: 'Make a job start over: state reset', load: () => import('./state.ts') },
  {
    name: 'forget',
    describe: 'Close the rows that only a job, or one of its targets, brought',
    load: () => import('./forget.ts'),
  },
  { name: 'jobs', describe: 'Validate the job files: jobs check', load: () => import('./jobs.ts') },
  { name: 'sandbox', describe: 'Serve the sample API', load: () => import('./sandbox.ts') },
  {
    name: 'completion',
    describe: 'Print completion for bash or zsh',
    load: () => import('./completion.ts'),
  },
];
