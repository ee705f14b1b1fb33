import type { Database, Tx } from '../../db/index.ts';
import { statusReportSchema } from '../schema/status-report-schema.ts';
import type { StatusReportRow } from '../schema/status-report-schema.ts';

/** Limit of reports kept per commit; a bot that repeats itself displaces its oldest ones. */
const mostReports = 1_000;

/** Stores a report, inside the transaction that records the status. */
export async function addStatusReport({ manager, now }: Tx, report: Omit<StatusReportRow, 'id' | 'createdAt'>) {
  const of = { repositoryId: report.repositoryId, sha: report.sha };
  if ((await manager.countBy(statusReportSchema, of)) >= mostReports) {
    const oldest = await manager.findOne(statusReportSchema, { where: of, order: { id: 'ASC' } });
    if (oldest !== null) await manager.delete(statusReportSchema, { id: oldest.id });
  }
  await manager.insert(statusReportSchema, { ...report, createdAt: now });
}

/** All reports for a commit, newest first. The caller checks access. */
export const statusReportsOf = ({ read }: Database, repositoryId: string, sha: string): Promise<StatusReportRow[]> =>
  read.find(statusReportSchema, { where: { repositoryId, sha }, order: { id: 'DESC' }, take: mostReports });
