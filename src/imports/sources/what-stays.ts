import type { SourceKind } from '../schema/source-kind.ts';

type Line = readonly [item: string, problem: string];

const runs: Line = ['workflows', 'their files come with the code; runs, logs and artifacts stay there'];

/** What no import from a forge brings, and why: for the report of a dry run. */
export const whatStays: Readonly<Record<SourceKind, readonly Line[]>> = {
  gitea: [
    ['projects', 'boards stay there: its API has no list of them'],
    ['tracked times', 'stay there: no import reads them'],
    runs,
  ],
  github: [
    ['pins', 'stay there: its REST API does not show which issues are pinned'],
    ['threads', 'come as unresolved: its REST API does not show which are resolved'],
    ['discussions and projects', 'stay there: its REST API has no lists of them'],
    ['attached files', 'of a private repository stay there: only browsers of signed-in people get them'],
    runs,
  ],
  gitlab: [
    ['confidential issues', 'stay there, as do internal notes: all readers of the repository would see them here'],
    ['boards, epics and snippets', 'stay there: nothing here is like them'],
    ['pipelines', '.gitlab-ci.yml does not run here; jobs and artifacts stay there'],
  ],
};
