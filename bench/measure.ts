// One process and all it starts: wall seconds, CPU seconds, peak memory. Linux only (/proc).
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

export interface Measurement {
  /** Wall time from start to exit; where a process prints `seconds` of its own, those: without starting up. */
  seconds: number;
  /** User and system time of the process and its children; likewise. */
  cpuSeconds: number;
  /** Most resident memory of the process tree. */
  peakMb: number;
  stdout: string;
}

export interface MeasureOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Told the process as soon as there is one. */
  onStart?(pid: number): void;
  /** Told it every 50 ms while it runs. */
  onSample?(pid: number): void;
}

/** Runs node with these arguments to its end. Not to be used for two at a time. @throws when it exits with neither 0 nor 75 */
export async function measure(args: readonly string[], options: MeasureOptions = {}): Promise<Measurement> {
  const cpuBefore = readChildCpu();
  const started = performance.now();
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  options.onStart?.(child.pid!);
  let peakKb = 0;
  const sampling = setInterval(() => {
    peakKb = Math.max(peakKb, readTreeKb(child.pid!));
    options.onSample?.(child.pid!);
  }, 50);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('exit', (code) => {
      clearInterval(sampling);
      resolve(code);
    });
    child.on('error', reject);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const seconds = (performance.now() - started) / 1000;
  if (code !== 0 && code !== 75) throw new Error(`node ${args.join(' ')}: exit ${code}\n${stderr}`);
  return { seconds, cpuSeconds: readChildCpu() - cpuBefore, peakMb: peakKb / 1024, stdout };
}

/** As {@link measure}, for a script of the bench, which prints its own `seconds` and `cpuSeconds` as JSON. */
export async function measureSelf(args: readonly string[]): Promise<Measurement> {
  const measured = await measure(args);
  const { seconds, cpuSeconds } = JSON.parse(measured.stdout) as Measurement;
  return { ...measured, seconds, cpuSeconds };
}

/** CPU seconds of all children that have ended, with theirs: `cutime` and `cstime` of proc(5), in hundredths. */
function readChildCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** A process's own peak, and what its children have at the moment. 0 when it has ended. */
function readTreeKb(pid: number): number {
  try {
    const childrenKb = readdirSync(`/proc/${pid}/task`)
      .flatMap((task) =>
        readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
      )
      .reduce((sum, child) => sum + readTreeKb(Number(child)), 0);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return childrenKb + Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
