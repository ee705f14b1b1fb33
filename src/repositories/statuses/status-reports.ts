import type { Database, Tx } from '../../db/index.ts';
import { statusReportSchema } from '../schema/status-report-schema.ts';
import type { StatusReportRow } from '../schema/status-report-schema.ts';

/** So many words of a commit are kept; a bot that repeats itself pushes its oldest ones out. */
const mostReports = 1_000;

/** Keeps a word, inside the write that records the status. */
export async function addStatusReport({ manager, now }: Tx, report: Omit<StatusReportRow, 'id' | 'createdAt'>) {
  const of = { repositoryId: report.repositoryId, sha: report.sha };
  if ((await manager.countBy(statusReportSchema, of)) >= mostReports) {
    const oldest = await manager.findOne(statusReportSchema, { where: of, order: { id: 'ASC' } });
    if (oldest !== null) await manager.delete(statusReportSchema, { id: oldest.id });
  }
  await manager.insert(statusReportSchema, { ...report, createdAt: now });
}

/** All that was said of a commit, the newest first. The caller checks access. */
export const statusReportsOf = ({ read }: Database, repositoryId: string, sha: string): Promise<StatusReportRow[]> =>
  read.find(statusReportSchema, { where: { repositoryId, sha }, order: { id: 'DESC' }, take: mostReports });
