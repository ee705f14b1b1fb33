import { invalid } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { describeGitFailure, singleProtocolEnvironment } from './remote.ts';

export interface RefLimits {
  /** What one push may bring, since the refs arrive as one. */
  maxUpdatesPerPush: number;
  /** What a repository may have: an export of one is taken back whole. */
  maxRefs: number;
}

/** What an import takes; the refs of remotes, for one, stay where they are. */
const takenRefs = ['refs/heads/*', 'refs/tags/*', 'refs/notes/*', 'refs/hearth/*'];
const listMs = 10 * 60_000;

/**
 * Counts the refs of a bundle, or of a repository on this machine, before anything is copied. Refuses
 * `refs_exceed_push` for more than may come in, `parcel_unreadable` when git cannot list them.
 * @param exportRef a ref that exports of this server alone have
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
