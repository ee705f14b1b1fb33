export { holdsJobs, holdsRepository, holdsStorage } from './held.ts';
