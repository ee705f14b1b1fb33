import { anonymous } from '../../access/index.ts';
import { page, type Reply } from '../app/reply.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryRow } from '../repository/repository-row.view.ts';
import type { Page, PersonContext, RequestContext } from '../app/request-context.ts';
import { showDashboard } from './dashboard.page.ts';
import type { AccountDeps } from './deps.ts';

const recentLimit = 20;

async function showWelcome({ query }: RequestContext, { accounts, repositories, clock }: AccountDeps): Promise<Reply> {
  const [recent, isSetUp] = await Promise.all([
    repositories.list(anonymous, { limit: recentLimit }),
    accounts.hasAdministrator(),
  ]);
  return page('account/landing', {
    repositories: recent.repositories.map((repository) => viewRepositoryRow(repository, clock.now())),
    isSetUp,
    notice: viewFlashMessage(query),
  });
}

/** `/`: the dashboard for signed-in users, an introduction for others. */
export const showHome: Page<RequestContext, AccountDeps> = (context, deps) =>
  context.person ? showDashboard(context as PersonContext, deps) : showWelcome(context, deps);
