import fc from 'fast-check';
import { readSeed } from './support/random.ts';

// Every property is tried with the seed of the test run.
fc.configureGlobal({ seed: readSeed() });
