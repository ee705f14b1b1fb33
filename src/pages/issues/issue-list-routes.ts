import { inOrganisationSettings, inPersonSettings } from '../app/route.ts';
import type { PageRoute, Route } from '../app/route.ts';
import type { Page, RepositoryContext, RepositoryPersonContext } from '../app/request-context.ts';
import { organisationBlocks, personBlocks } from './blocks.page.ts';
import { conversationFeed, listFeed } from './feeds.page.ts';
import { changeIssues, showIssueList } from './issue-list.page.ts';
import { showIssuesOfOrganisation, showIssuesOfPerson } from './issues-of-owner.page.ts';
import { saveIssueSettings, showIssueSettings } from './issue-settings.page.ts';
import { addDefaultLabels, addLabel, editLabel, organisationLabels, removeLabel, showLabels } from './labels.page.ts';
import {
  addMilestone,
  closeMilestone,
  editMilestone,
  removeMilestone,
  reopenMilestone,
  showMilestone,
  showMilestones,
} from './milestones.page.ts';
import { admitContributor, refuseContributor, showModeration, showTrash } from './moderation.page.ts';
import { showOwnIssues } from './own-issues.page.ts';
import { showIssueSearch } from './search-issues.page.ts';
import { removeReply, saveReply, showSavedReplies } from './saved-replies.page.ts';

const at = '/repos/:owner/:name';

const read = (path: string, page: Page<RepositoryContext>): PageRoute => ({
  method: 'GET',
  path: `${at}${path}`,
  access: 'repository:read',
  cost: 'rows',
  page,
});
const form =
  (access: 'repository:write' | 'repository:admin') =>
  (method: 'GET' | 'POST', path: string, page: Page<RepositoryPersonContext>): PageRoute => ({
    method,
    path: `${at}${path}`,
    access,
    cost: 'rows',
    page,
  });
const writes = form('repository:write');
const administers = form('repository:admin');

/** Lists of issues, labels, milestones, moderation and feeds. */
export const issueListRoutes: readonly Route[] = [
  read('/issues', showIssueList),
  read('/issues.atom', listFeed('ISSUE')),
  writes('POST', '/issues/bulk', changeIssues),
  writes('GET', '/issues/moderation', showModeration),
  writes('POST', '/issues/moderation/:person/admit', admitContributor),
  writes('POST', '/issues/moderation/:person/refuse', refuseContributor),
  administers('GET', '/issues/trash', showTrash),
  read('/issues/:number.atom', conversationFeed('ISSUE')),

  read('/labels', showLabels),
  administers('POST', '/labels', addLabel),
  administers('POST', '/labels/defaults', addDefaultLabels),
  administers('POST', '/labels/:label', editLabel),
  administers('POST', '/labels/:label/delete', removeLabel),
  inOrganisationSettings('GET', '/labels', organisationLabels.show),
  inOrganisationSettings('POST', '/labels', organisationLabels.add),
  inOrganisationSettings('POST', '/labels/defaults', organisationLabels.addDefaults),
  inOrganisationSettings('POST', '/labels/:label', organisationLabels.edit),
  inOrganisationSettings('POST', '/labels/:label/delete', organisationLabels.remove),

  read('/milestones', showMilestones),
  writes('POST', '/milestones', addMilestone),
  read('/milestones/:milestone', showMilestone),
  writes('POST', '/milestones/:milestone', editMilestone),
  writes('POST', '/milestones/:milestone/close', closeMilestone),
  writes('POST', '/milestones/:milestone/reopen', reopenMilestone),
  writes('POST', '/milestones/:milestone/delete', removeMilestone),

  administers('GET', '/settings/issues', showIssueSettings),
  administers('POST', '/settings/issues', saveIssueSettings),
  inPersonSettings('GET', '/replies', showSavedReplies),
  { ...inPersonSettings('POST', '/replies', saveReply), maxFormBytes: 256 * 1024 },
  inPersonSettings('POST', '/replies/remove', removeReply),
  inPersonSettings('GET', '/blocks', personBlocks.show),
  inPersonSettings('POST', '/blocks', personBlocks.add),
  inPersonSettings('POST', '/blocks/:username/remove', personBlocks.remove),
  inOrganisationSettings('GET', '/blocks', organisationBlocks.show),
  inOrganisationSettings('POST', '/blocks', organisationBlocks.add),
  inOrganisationSettings('POST', '/blocks/:username/remove', organisationBlocks.remove),

  { method: 'GET', path: '/dashboard/issues', access: 'signed-in', cost: 'rows', page: showOwnIssues },
  { method: 'GET', path: '/users/:username/issues', access: 'public', cost: 'search', page: showIssuesOfPerson },
  { method: 'GET', path: '/orgs/:name/issues', access: 'public', cost: 'search', page: showIssuesOfOrganisation },
  { method: 'GET', path: '/search/issues', access: 'public', cost: 'search', page: showIssueSearch },
];
