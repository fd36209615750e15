import type { CommandEntry } from './command-module.ts';

export const commandList: readonly CommandEntry[] = [
  {
    name: 'run',
    describe: 'Crawl, load, publish and export',
    load: async () => (await import('./run-jobs.ts')).runCommand,
  },
  {
    name: 'crawl',
    describe: 'Only receive: pages into the landing log',
    load: async () => (await import('./run-jobs.ts')).crawlCommand,
  },
  { name: 'load', describe: 'Only type: landed pages into staging', load: () => import('./load.ts') },
  {
    name: 'publish',
    describe: 'Only apply: staging into the tables and the snapshot',
    load: () => import('./publish.ts'),
  },
  {
    name: 'export',
    describe: 'Parquet datasets of the snapshot',
    load: () => import('./export.ts'),
  },
  {
    name: 'plan',
    describe: 'What a run would ask for and cost; asks nothing',
    load: () => import('./plan.ts'),
  },
  { name: 'status', describe: 'How far every job is', load: () => import('./status.ts') },
  {
    name: 'check',
    describe: 'Whether every job is complete, fresh and published; for monitoring',
    load: () => import('./check.ts'),
  },
  {
    name: 'source',
    describe: 'The API that a data folder is bound to, or another URL that takes over',
    load: () => import('./source.ts'),
  },
  { name: 'report', describe: 'One HTML page of a run, or of many', load: () => import('./report.ts') },
  { name: 'runs', describe: 'The runs so far and what they cost', load: () => import('./runs.ts') },
  { name: 'sql', describe: 'Query the snapshot, read-only', load: () => import('./sql.ts') },
  {
    name: 'call',
    describe: 'One request; prints the result exactly',
    load: () => import('./call.ts'),
  },
  {
    name: 'webhook',
    describe: 'Enable or disable a webhook',
    load: () => import('./webhook.ts'),
  },
  { name: 'methods', describe: 'Operations of the API', load: () => import('./methods.ts') },
  {
    name: 'tables',
    describe: 'Tables and columns with their meaning',
    load: () => import('./tables.ts'),
  },
  {
    name: 'explain',
    describe: 'Where a row comes from, and why it is as it is',
    load: () => import('./explain.ts'),
  },
  {
    name: 'quarantine',
    describe: 'What did not fit: list, show, retry',
    load: () => import('./quarantine.ts'),
  },
  {
    name: 'doctor',
    describe: 'Look for what is wrong with this installation and its data folder',
    load: () => import('./doctor.ts'),
  },
  {
    name: 'clean',
    describe: 'Remove what is older than keep_raw_days, and leftovers',
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
  { name: 'state', describe: 'Begin a job anew: state reset', load: () => import('./state.ts') },
  {
    name: 'forget',
    describe: 'Close the rows that only a job, or one of its targets, brought',
    load: () => import('./forget.ts'),
  },
  { name: 'jobs', describe: 'Validate the job files: jobs check', load: () => import('./jobs.ts') },
  { name: 'sandbox', describe: 'Serve the sample API', load: () => import('./sandbox.ts') },
  {
    name: 'completion',
    describe: 'Completion for bash or zsh',
    load: () => import('./completion.ts'),
  },
];
