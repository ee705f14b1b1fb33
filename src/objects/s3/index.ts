export { createCredentials } from './read-credentials.ts';
export { objectUrl, createS3Client } from './s3-client.ts';
export { createS3Store } from './s3-store.ts';
export { createRecentUploads } from './recent-uploads.ts';
