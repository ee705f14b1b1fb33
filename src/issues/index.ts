export { issueEntities } from './issue-entities.ts';
