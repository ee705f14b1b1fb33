export { holdsJobs, holdsRepository, holdsStorage } from './node-ownership.ts';
