import type { Command } from 'commander';
import { conflict, invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import type { Run } from '../action.ts';

interface Wanted {
  verify?: true;
  from?: string;
  signers?: string;
}

/** `hearth version`: the versions for a bug report, and whether this program is an official release. */
export function addVersionCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('version')
      .description('print the versions of Hearth, Node, git and the system')
      .option('--verify', 'compare this program with its signed release checksums; exits with 7 if it differs')
      .option('--from <place>', 'with --verify: folder or URL of the release files (updates.url)')
      .option('--signers <file>', 'with --verify: public keys accepted for release signatures (updates.signers)')
      .action(run(version)),
    'hearth version',
    'hearth version --verify --from /srv/hearth-0.2.0 --signers /etc/hearth/allowed_signers',
  );
}

async function version(cli: Cli, { verify, ...source }: Wanted): Promise<void> {
  if (verify) return verifyOwnProgram(cli, source);
  if (source.from !== undefined || source.signers !== undefined)
    throw invalid('verify_missing', '--from and --signers require --verify.');
  await printVersions(cli);
}

async function printVersions(cli: Cli): Promise<void> {
  const [{ embedded }, { installedGit }] = await Promise.all([
    import('../../embedded/index.ts'),
    import('../../git/index.ts'),
  ]);
  const { config } = await cli.loadConfig();
  // Without git, the other versions are still printed.
  const git = await installedGit(config.git.program, cli.process.env['PATH'] ?? '').catch(() => null);
  const { node, sqlite = '' } = process.versions;
  cli.output.show(
    [
      ['hearth', embedded.version],
      ['node', node],
      ['sqlite', sqlite],
      ['git', git === null ? 'not found' : `${git.version} (${git.path})`],
    ],
    { hearth: embedded.version, node, sqlite, git: git?.version ?? null, gitPath: git?.path ?? null },
  );
}

async function verifyOwnProgram(cli: Cli, wanted: Omit<Wanted, 'verify'>): Promise<void> {
  const { embedded } = await import('../../embedded/index.ts');
  if (!embedded.isExecutable)
    throw conflict('no_released_program', 'This is a source checkout. Only a released program can be verified.');
  const [{ verifyProgram }, { releaseSource }] = await Promise.all([
    import('../../updates/index.ts'),
    import('../release-source.ts'),
  ]);
  const own = { file: process.execPath, version: embedded.version, arch: process.arch };
  const { file, sha256, isGenuine } = await verifyProgram(await releaseSource(cli, wanted), own);
  if (!isGenuine) cli.exitCode = 7;
  const line = isGenuine
    ? `${file} is the signed program of Hearth ${own.version}`
    : `${file} is not the signed program of Hearth ${own.version}: reinstall it`;
  cli.output.print(`${line}\n`, { ok: isGenuine, file, version: own.version, sha256 });
}
