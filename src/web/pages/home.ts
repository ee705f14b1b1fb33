import { anonymous } from '../../access/index.ts';
import { page, type Reply } from '../answers/reply.ts';
import type { WebRooms } from '../rooms.ts';
import { viewNotice } from '../views/notices.ts';
import { viewRepositoryRow } from '../views/repository-row.ts';
import type { Page, PersonVisit, Visit } from '../visit.ts';
import { showDashboard } from './dashboard.ts';

const recentLimit = 20;

async function showWelcome({ query }: Visit, { accounts, repositories, clock }: WebRooms): Promise<Reply> {
  const [recent, isSetUp] = await Promise.all([
    repositories.list(anonymous, { limit: recentLimit }),
    accounts.hasAdministrator(),
  ]);
  return page('pages/welcome', {
    repositories: recent.repositories.map((repository) => viewRepositoryRow(repository, clock.now())),
    isSetUp,
    notice: viewNotice(query),
  });
}

/** `/`: the dashboard for people, an introduction for everybody else. */
export const showHome: Page = (visit, rooms) =>
  visit.person ? showDashboard(visit as PersonVisit, rooms) : showWelcome(visit, rooms);
