// Plants every bug of this folder (or those named) in a copy of the repository and sees that its test catches it.
//   npx tsx test/chaos/negative-controls/run.ts [name…]
import { listControls, makeScratch, runControl } from './control.ts';

const names = process.argv.slice(2);
const chosen = listControls().filter(({ name }) => names.length === 0 || names.includes(name));
const scratch = makeScratch();
let missed = 0;
console.log('| bug | caught by | |\n|---|---|---|');
try {
  for (const control of chosen) {
    const { verdict, message } = runControl(control, scratch.path);
    if (verdict !== 'caught') missed += 1;
    const mark = verdict === 'caught' ? '' : `**${verdict}** ${message}`;
    console.log(`| ${control.bug} | \`${control.test}\`, “${control.filter}” | ${mark} |`);
  }
} finally {
  scratch.remove();
}
process.exitCode = missed > 0 || chosen.length === 0 ? 1 : 0;
