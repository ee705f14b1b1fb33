import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { createCredentials } from '../../src/objects/s3/read-credentials.ts';
import { isTransient, S3Failure } from '../../src/objects/s3/s3-failure.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.test('a changed file of credentials is read within a minute', async (t) => {
  const credentialsFile = path.join(temporaryFolder(t), 'key');
  let now = 1_000_000;
  const read = createCredentials({ accessKeyId: null, secretAccessKey: null, credentialsFile }, () => now);
  const idNow = async () => (await read()).accessKeyId;
  writeFileSync(credentialsFile, 'first\nsecret\n');
  t.equal(await idNow(), 'first');
  writeFileSync(credentialsFile, 'second\nsecret\n');
  now += 59_999;
  t.equal(await idNow(), 'first', 'it is kept for a minute');
  now += 1;
  t.equal(await idNow(), 'second');
});

t.test('failures that pass are told from those that stay', async (t) => {
  const cases: [status: number, code: string, isPassing: boolean][] = [
    [429, '', true],
    [408, '', true],
    [500, '', true],
    [503, '', true],
    [501, 'NotImplemented', false],
    [400, 'IncompleteBody', true],
    [400, 'InvalidRequest', false],
    [403, 'AccessDenied', false],
    [404, 'NoSuchBucket', false],
    [0, 'Unreachable', true],
    [0, 'NoCredentials', false],
  ];
  for (const [status, code, isPassing] of cases)
    t.equal(isTransient(new S3Failure(status, code, '')), isPassing, `${status} ${code}`);
});
