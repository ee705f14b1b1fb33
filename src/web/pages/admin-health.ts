import { page } from '../reply.ts';
import { viewSize } from '../views/sizes.ts';
import { viewTime } from '../views/times.ts';
import type { Page, PersonVisit } from '../visit.ts';

/** How the server is, and when a restore was last proven. */
export const showAdminHealth: Page<PersonVisit> = async (_visit, { unready, backups, counts, git, clock }) => {
  const [parts, { newest, lastProof }, count] = await Promise.all([unready(), backups.state(), counts()]);
  const load = git.load();
  const now = clock.now();
  const busy = ({ running, waiting }: { running: number; waiting: number }): string => `${running} at work, ${waiting} waiting`;
  return page('admin/health', {
    unready: parts,
    proven: lastProof && { at: viewTime(Date.parse(lastProof.at), now), repositories: lastProof.proven, total: lastProof.total },
    backup: newest && {
      at: viewTime(newest.madeAt, now),
      size: viewSize(newest.bytes),
      isDamaged: newest.proof !== null && newest.proof.problems.length > 0,
    },
    facts: [
      { name: 'People', value: count.people },
      { name: 'Organisations', value: count.organisations },
      { name: 'Repositories', value: `${count.repositories}, ${viewSize(count.repositoryBytes)}` },
      { name: 'In the trash', value: count.inTrash },
      { name: 'Pushes in 24 hours', value: count.pushesToday },
      { name: 'Clones and fetches', value: busy(load.reads) },
      { name: 'Pushes', value: busy(load.writes) },
      { name: 'Git processes', value: load.processes },
      { name: 'Deliveries', value: `${count.deliveries.PENDING} waiting, ${count.deliveries.FAILED} failed` },
      { name: 'CI runners', value: count.runners },
      { name: 'git', value: git.version },
    ],
  });
};
