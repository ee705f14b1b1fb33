import { showIssueAsJson, showIssueAsMarkdown } from '../issues/export-issue.page.ts';
import { conversationFeed, listFeed } from '../issues/feeds.page.ts';

/** `B/pulls.atom` and `B/pulls/{number}.atom`. */
export const showPullsFeed = listFeed('PULL');
export const showPullFeed = conversationFeed('PULL');

/** `B/pulls/{number}.json` and `B/pulls/{number}.md`: the log, as for an issue. */
export const showPullAsJson = showIssueAsJson;
export const showPullAsMarkdown = showIssueAsMarkdown;
