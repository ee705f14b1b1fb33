export { createCredentials } from './read-credentials.ts';
export { addressOf, createS3Client } from './s3-client.ts';
export { createS3Store } from './s3-store.ts';
