import { invalid } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { describeGitFailure, singleProtocolEnvironment } from './remote.ts';

export interface RefLimits {
  /** Limit for one push, since the refs arrive together. */
  maxUpdatesPerPush: number;
  /** Limit for a repository: an export must be importable as a whole. */
  maxRefs: number;
}

/** Refs to import; others, such as refs of remotes, are skipped. */
const takenRefs = ['refs/heads/*', 'refs/tags/*', 'refs/notes/*', 'refs/hearth/*'];
const listMs = 10 * 60_000;

/**
 * Counts the refs of a bundle, or of a repository on this machine, before anything is copied. Throws `refs_exceed_push`
 * above the limit, `parcel_unreadable` if git cannot list them.
 * @param exportRef a ref that only exports by this server have
 */
export async function limitRefs(
  runner: GitRunner,
  source: string,
  exportRef: string,
  { maxUpdatesPerPush, maxRefs }: RefLimits,
): Promise<void> {
  const git = runner.start({
    argv: ['ls-remote', '--quiet', '--refs', source, ...takenRefs],
    timeLimitMs: listMs,
    yields: true,
    environment: singleProtocolEnvironment('file'),
  });
  let count = 0;
  let isExport = false;
  let rest = '';
  const most = (): number => (isExport ? maxRefs : maxUpdatesPerPush);
  for await (const chunk of git.stdout!.iterator({ destroyOnReturn: false })) {
    const lines = (rest + (chunk as Buffer).toString('latin1')).split('\n');
    rest = lines.pop()!;
    count += lines.length;
    isExport ||= lines.some((line) => line.endsWith(`\t${exportRef}`));
    if (count > maxRefs) {
      git.stop('output_limit');
      break;
    }
  }
  const { code, stoppedBy } = await git.exited;
  if (code !== 0 && stoppedBy === null)
    throw invalid('parcel_unreadable', `${source} cannot be read. ${describeGitFailure(git.stderrText())}`);
  if (count <= most()) return;
  const [has, limit] = [count > maxRefs ? `more than ${inWords(maxRefs)}` : inWords(count), inWords(most())];
  throw invalid(
    'refs_exceed_push',
    `${source} has ${has} refs, which come in as one push. ${isExport ? 'A repository has' : 'A push brings'} at most ${limit}. Nothing was changed.`,
  );
}

const inWords = (count: number): string => count.toLocaleString('en');
