import { readFile } from 'node:fs/promises';
import { S3Failure } from './s3-failure.ts';
import type { S3Credentials } from './sign-request.ts';

interface CredentialOptions {
  accessKeyId: string | null;
  secretAccessKey: string | null;
  /** A file with the id in its first line and the secret in its second; overrides the other two. */
  credentialsFile: string | null;
}

const keptMs = 60_000;

/** The access key, from the settings, or from a file that is read again each minute, so that keys can be changed. */
export function createCredentials(
  { accessKeyId, secretAccessKey, credentialsFile }: CredentialOptions,
  now: () => number,
): () => Promise<S3Credentials> {
  let known: S3Credentials | null = null;
  let readAt = 0;
  return async () => {
    if (credentialsFile === null) {
      if (accessKeyId === null || secretAccessKey === null)
        throw missing('objects.access_key_id and objects.secret_access_key are not set');
      return { accessKeyId, secretAccessKey };
    }
    if (known !== null && now() - readAt < keptMs) return known;
    const text = await readFile(credentialsFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw missing(`${credentialsFile} (objects.credentials_file) cannot be read: ${error.code}`);
    });
    const [id = '', secret = ''] = text.split('\n').map((line) => line.trim());
    if (id === '' || secret === '')
      throw missing(
        `${credentialsFile} (objects.credentials_file) needs the id in its first line and the secret below`,
      );
    readAt = now();
    return (known = { accessKeyId: id, secretAccessKey: secret });
  };
}

const missing = (message: string): S3Failure => new S3Failure(0, 'NoCredentials', message);
