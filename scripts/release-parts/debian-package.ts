import { chmod, copyFile, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { run } from './release-in-progress.ts';
import type { Release } from './release-in-progress.ts';

/**
 * A package for Debian 12 and newer, and what is made of it: the program, a systemd unit, settings in /etc/hearth, data
 * in /var/lib/hearth of the user `hearth`, a manual page and completions.
 * @param options.executable of that architecture
 */
export async function makeDebianPackage(
  release: Release,
  options: { architecture: string; executable: string; licences: string; output: string },
): Promise<void> {
  const { seconds, source, workFolder } = release;
  const root = join(workFolder, `debian-${options.architecture}`);
  const add = async (path: string, content: string | Uint8Array, mode = 0o644): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
    await chmod(join(root, path), mode);
  };
  const packaging = (name: string) => readFile(join(source, 'packaging', name), 'utf8');
  const packed = (text: string) => gzipSync(text, { level: 9 });
  const document = (name: string) => `usr/share/doc/hearth/${name}`;

  await mkdir(join(root, 'usr/bin'), { recursive: true });
  await copyFile(options.executable, join(root, 'usr/bin/hearth'));
  await chmod(join(root, 'usr/bin/hearth'), 0o755);
  const unit = await packaging('hearth.service');
  await add('lib/systemd/system/hearth.service', unit.replaceAll('/usr/local/bin/', '/usr/bin/'));
  await add('etc/hearth/hearth.toml', await settingsFile(source));
  await add(document('copyright'), copyright(await readFile(join(source, 'LICENSE'), 'utf8')));
  await add(document('third-party-licences.txt.gz'), packed(options.licences));
  await add(document('changelog.gz'), packed(changelog(release)));
  for (const [path, text] of await texts(release)) await add(path, path.endsWith('.gz') ? packed(text) : text);

  for (const name of await readdir(join(source, 'packaging/debian')))
    if (!name.startsWith('lintian')) await add(`DEBIAN/${name}`, await packaging(`debian/${name}`), 0o755);
  await add('usr/share/lintian/overrides/hearth', await packaging('debian/lintian-overrides'));
  await add('DEBIAN/conffiles', '/etc/hearth/hearth.toml\n');
  await add('DEBIAN/md5sums', await run('sh', ['-c', `cd "$0" && ${md5sums}`, root]).then((text) => `${text}\n`));
  const size = Math.ceil((await stat(options.executable)).size / 1024) + 1024;
  await add('DEBIAN/control', control(release, options.architecture, size));
  for (const folder of await readdir(root, { recursive: true, withFileTypes: true }))
    if (folder.isDirectory()) await chmod(join(folder.parentPath, folder.name), 0o755);
  await chmod(root, 0o755);
  // xz compresses the same bytes to the same bytes with one thread.
  const words = ['--root-owner-group', '-Zxz', '-z3', '--threads-max=1', '--build', root, options.output];
  await run('dpkg-deb', words, { SOURCE_DATE_EPOCH: String(seconds) });
}

const md5sums = "find . -path ./DEBIAN -prune -o -type f -printf '%P\\n' | LC_ALL=C sort | xargs md5sum";

async function settingsFile(source: string): Promise<string> {
  const example = await readFile(join(source, 'config.example.toml'), 'utf8');
  return example.replace(/^#data_dir = .*$/m, 'data_dir = "/var/lib/hearth"');
}

/** Debian's order: a pre-release is older than the release when a tilde stands before it. */
const debianVersion = (version: string): string => version.replace('-', '~');

const control = ({ version, maintainer }: Release, architecture: string, size: number): string => `Package: hearth
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${size}
Depends: adduser, git (>= 1:2.39), libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 12)
Recommends: openssh-client, ca-certificates
Section: vcs
Priority: optional
Description: self-hosted git forge in one executable
 Repositories over HTTP and SSH with pages, issues, pull requests, releases,
 packages and CI for stock Gitea and Forgejo runners. All state is in
 /var/lib/hearth, on embedded SQLite.
`;

const copyright = (
  licence: string,
): string => `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: hearth

Files: *
Copyright: the contributors to Hearth
License: Expat
Comment: The program contains libraries and Node.js under their own licences,
 which are in third-party-licences.txt.gz.

License: Expat
${licence
  .trim()
  .split('\n')
  .map((line) => (line.trim() === '' ? ' .' : ` ${line}`))
  .join('\n')}
`;

function changelog({ version, seconds, maintainer, notes }: Release): string {
  const items = notes.split('\n').filter((line) => line.startsWith('- '));
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
  const text = items.map((line) => `  * ${wrapped(line.slice(2))}`).join('\n');
  return `hearth (${debianVersion(version)}) stable; urgency=medium\n\n${text}\n\n -- ${maintainer}  ${date}\n`;
}

/** Lines of at most 76 characters, indented below the first. */
const wrapped = (text: string): string => text.replace(/(.{1,72})(?:\s+|$)/g, '$1\n    ').trimEnd();

/** Manual page and completions, printed by the program of the clone. */
async function texts({ source, workFolder }: Release): Promise<[path: string, text: string][]> {
  const hearth = (...words: string[]) =>
    run(process.execPath, ['--disable-warning=ExperimentalWarning', join(source, 'bin/hearth.ts'), ...words], {
      SERVICE_DATA_DIR: join(workFolder, 'no-data'),
    }).then((text) => `${text}\n`);
  return [
    ['usr/share/man/man1/hearth.1.gz', await hearth('help', '--man')],
    ['usr/share/bash-completion/completions/hearth', await hearth('completion', 'bash')],
    ['usr/share/zsh/vendor-completions/_hearth', await hearth('completion', 'zsh')],
    ['usr/share/fish/vendor_completions.d/hearth.fish', await hearth('completion', 'fish')],
  ];
}
