export { holdsJobs, holdsRepository } from './node-ownership.ts';
