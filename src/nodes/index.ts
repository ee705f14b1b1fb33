export { holdsJobs, holdsRepository } from './held.ts';
