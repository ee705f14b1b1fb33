import t from 'tap';
import { snapshotMetadata } from '../../src/http-packages/maven/maven-metadata.ts';

/** Behind `app-1.0-20260101.000000-1`: the end of a file's name, its classifier and its extension. */
const files: [end: string, classifier: string, extension: string][] = [
  ['.jar', '', 'jar'],
  ['.pom.asc', '', 'pom.asc'],
  ['.tar.gz', '', 'tar.gz'],
  ['.cyclonedx.json', '', 'cyclonedx.json'],
  ['-sources.jar', 'sources', 'jar'],
  ['-sources.jar.asc', 'sources', 'jar.asc'],
  ['-bin.tar.gz', 'bin', 'tar.gz'],
  ['-bin.tar.xz.asc', 'bin', 'tar.xz.asc'],
  ['-linux-x86_64.so', 'linux-x86_64', 'so'],
  ['-scala2.13.jar', 'scala2.13', 'jar'],
  ['-scala2.13-tests.jar', 'scala2.13-tests', 'jar'],
  ['-spark3.5.jar.sigstore.json', 'spark3.5', 'jar.sigstore.json'],
  ['-1.2.zip', '1.2', 'zip'],
];

t.test('the metadata of a snapshot has the classifier and the extension of each file', async (t) => {
  const rows = files.map(([end]) => ({ name: `app-1.0-20260101.000000-1${end}`, createdAt: 0 }));
  const other = { name: 'app-1.0.jar', createdAt: 0 };
  const text = snapshotMetadata({ name: 'org.example:app' }, { version: '1.0-SNAPSHOT', updatedAt: 0 }, [
    ...rows,
    other,
  ]);
  const read = (part: string, tag: string) => new RegExp(`<${tag}>([^<]*)`).exec(part)?.[1] ?? '';
  const entries = text.split('<snapshotVersion>').slice(1);
  t.strictSame(
    entries.map((entry) => [read(entry, 'classifier'), read(entry, 'extension'), read(entry, 'value')]),
    files.map(([, classifier, extension]) => [classifier, extension, '1.0-20260101.000000-1']),
  );
});
