import type { Mutation } from '../../scripts/mutations.ts';

/** Limits to the last step, times, and what goes on after a failure. */
export const mutations: readonly Mutation[] = [
  {
    title: 'OpenPGP keys of suspended accounts verify',
    file: 'src/signing/verification/find-signers.ts',
    from: '!person?.username || person.disabledAt !== null',
    to: '!person?.username',
    tests: ['test/signing/verify-like-git.test.ts'],
  },
  {
    title: 'the hour of the limit of contributions has six minutes',
    file: 'src/issues/rate-limits.ts',
    from: 'ms: 3_600_000',
    to: 'ms: 360_000',
    tests: ['test/issues/moderation-and-references.test.ts'],
  },
  {
    title: 'the limit of contributions lasts a millisecond longer',
    file: 'src/kernel/fixed-window.ts',
    from: 'now >= window.startedAt + lengthMs',
    to: 'now > window.startedAt + lengthMs',
    tests: ['test/issues/moderation-and-references.test.ts'],
  },
  {
    title: 'weekly digests are due on Sunday',
    file: 'src/notifications/mail/digest-times.ts',
    from: '-3 * dayMs',
    to: '-4 * dayMs',
    tests: ['test/notifications/digest-times.test.ts'],
  },
  {
    title: 'the API does not say when to come again',
    file: 'src/http/response/error-status.ts',
    from: "'Retry-After': String(Math.max",
    to: "'X-Retry-After': String(Math.max",
    tests: ['test/http-api/api-errors.test.ts'],
  },
  {
    title: 'one activity that fails fails those that are written with it',
    file: 'src/federation/group-commit.ts',
    from: 'for (const each of some) await writeAlone(each);',
    to: "for (const { reject } of some) reject(new Error('The write failed.'));",
    tests: ['test/federation/group-commit.test.ts'],
  },
  {
    title: 'a file that changed within the resolution of file times is linked to its older copy',
    file: 'src/backup/copy-file.ts',
    from: ' && time < readAt - settledMs',
    to: '',
    tests: ['test/backup/copying.test.ts'],
  },
  {
    title: 'a file that rested for exactly the resolution of file times is linked',
    file: 'src/backup/copy-file.ts',
    from: 'time < readAt - settledMs',
    to: 'time <= readAt - settledMs',
    tests: ['test/backup/copying.test.ts'],
  },
  {
    title: 'packed refs are copied before loose ones',
    file: 'src/backup/copy-repository.ts',
    from: "  await copier.folder(path.join(from, 'refs'), `${relativePath}/refs`, (name) => passing.test(name));\n  await copier.file(path.join(from, 'packed-refs'), `${relativePath}/packed-refs`).catch(whenGone);\n",
    to: "  await copier.file(path.join(from, 'packed-refs'), `${relativePath}/packed-refs`).catch(whenGone);\n  await copier.folder(path.join(from, 'refs'), `${relativePath}/refs`, (name) => passing.test(name));\n",
    tests: ['test/backup/copying.test.ts'],
  },
  {
    title: 'a store that answers 429 is not asked again',
    file: 'src/objects/s3/s3-failure.ts',
    from: 'status === 429 || ',
    to: '',
    tests: ['test/objects/credentials-and-failures.test.ts'],
  },
  {
    title: 'a file of S3 credentials is read once',
    file: 'src/objects/s3/read-credentials.ts',
    from: 'known !== null && now() - readAt < keptMs',
    to: 'known !== null',
    tests: ['test/objects/credentials-and-failures.test.ts'],
  },
  {
    title: 'a failed batch of notifications is tried again at once',
    file: 'src/notifications/fan-out/batches.ts',
    from: 'clock.now() + retryAfterMs(attempts + 1)',
    to: 'clock.now()',
    tests: ['test/notifications/fan-out.test.ts'],
  },
];
