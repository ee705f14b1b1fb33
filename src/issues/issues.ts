import { personIdOf } from '../access/index.ts';
import { bindDeps } from '../kernel/index.ts';
import type { Viewer } from '../access/index.ts';
import type { RowSource, Tx } from '../db/index.ts';
import type { Repository } from '../repositories/index.ts';
import { EntryAnnouncer } from './announcements/entry-announcer.ts';
import type { EntryListener, EntryPosition } from './announcements/announce-entry.ts';
import { addAttachment } from './attachments/add-attachment.ts';
import { attachToIssue } from './attachments/attach-to-issue.ts';
import { findAttachment, listAttachments, readAttachment } from './attachments/open-attachment.ts';
import {
  findAttachmentOf,
  removeAttachment,
  renameAttachment,
  removeUnusedAttachments,
} from './attachments/remove-attachments.ts';
import { addCard, moveCards, removeCards } from './boards/change-cards.ts';
import { readBoard } from './boards/list-cards.ts';
import { placeByRules } from './boards/place-by-rules.ts';
import { addBoard, deleteBoard, editBoard, listBoards } from './boards/manage-boards.ts';
import { addColumn, deleteColumn, editColumn, moveColumn } from './boards/manage-columns.ts';
import { addComment } from './comments/add-comment.ts';
import { deleteComment, editText, listRevisions, replaceReviewText, textBefore } from './comments/edit-text.ts';
import { findComment, listRepositoryComments } from './comments/find-comments.ts';
import { toggleTask } from './comments/toggle-task.ts';
import type { IssueDeps, ReopenCheck, TextListener } from './deps.ts';
import { findEntry, listEntries } from './entries/list-entries.ts';
import { EntryLog, writeEntries } from './entries/write-entries.ts';
import { exportIssue } from './export/export-issue.ts';
import { PeopleNames } from './export/portable-details.ts';
import { hasValidMac, appendMac } from './export/export-mac.ts';
import { peopleAmong } from './import/imported-people.ts';
import type { ImportedPerson } from './import/export-file-schemas.ts';
import { exportIssues } from './export/export-issues.ts';
import { importIssues, refuseTakenNumbers, writeClassification } from './import/import-issues.ts';
import {
  findFollowedEntries,
  findFollowedFiles,
  listFollowedFiles,
  storeFollowedFile,
} from './import/followed-files.ts';
import { removeFollowedTimes, writeFollowedTimes } from './import/followed-times.ts';
import { writeFollowedIssues } from './import/write-followed-issues.ts';
import type { ImportSource } from './import/import-source.ts';
import { nextNumber } from './numbers/next-number.ts';
import { findIssue, findMovedIssue, issueInWrite, kindOfIssue } from './find-issue.ts';
import { contextFor, repositoryContext } from './issue-context.ts';
import type { IssueAt, RepositoryAt, RepositoryContext } from './issue-context.ts';
import { countIssuesPerLabel } from './labels/count-issues-per-label.ts';
import {
  addDefaultLabels,
  addLabel,
  deleteLabel,
  editLabel,
  listLabels,
  listOrganisationLabels,
} from './labels/manage-labels.ts';
import { changeMany, setTitle, triage, triageMany } from './lifecycle/change-issue.ts';
import { closeIssue, reopenIssue } from './lifecycle/change-state.ts';
import { moveIssue } from './lifecycle/move-issue.ts';
import { openIssue } from './lifecycle/open-issue.ts';
import type { NewIssue, PullPart } from './lifecycle/open-issue.ts';
import { updateIssue } from './update-issue.ts';
import {
  emptyIssueTrash,
  findTrashedIssue,
  listTrashedIssues,
  purgeIssue,
  restoreIssue,
  trashIssue,
} from './lifecycle/trash.ts';
import { addLink, listLinks, removeLink } from './links/change-links.ts';
import { describeIssues } from './lists/describe-issues.ts';
import { findByIds, findReadable } from './lists/find-by-ids.ts';
import { listIssues, listPinnedIssues } from './lists/list-issues.ts';
import { listOwnIssues } from './lists/list-own-issues.ts';
import { withDetails } from './lists/read-issues.ts';
import type { ListedIssue } from './lists/read-issues.ts';
import { searchIssues } from './lists/search-issues.ts';
import type { TextIndex } from './text-index.ts';
import { titleIndex } from './lists/title-index.ts';
import {
  addMilestone,
  deleteMilestone,
  editMilestone,
  findMilestone,
  listMilestones,
  setMilestoneClosed,
} from './milestones/manage-milestones.ts';
import { blockPerson, listBlocks, unblockPerson } from './moderation/blocks.ts';
import { admitContributor, listHeld, refuseContributor } from './moderation/held-contributions.ts';
import { hideComment } from './moderation/hide-entry.ts';
import { chargeRateLimit, holdsContribution } from './moderation/hold-newcomers.ts';
import { listHeldTexts } from './moderation/list-held-texts.ts';
import { RateLimiter } from './rate-limits.ts';
import { findDraft, saveDraft } from './participation/drafts.ts';
import { listParticipants } from './participation/participants.ts';
import { listReactions, react } from './participation/reactions.ts';
import { filterReaders } from './participation/filter-readers.ts';
import { listSubscribers, setSubscription, subscriptionOf } from './participation/subscriptions.ts';
import { listStopwatches, useStopwatch } from './time/stopwatches.ts';
import { addTime, listTimes, removeTime, resetTime } from './time/tracked-times.ts';
import { subscribeOnce } from './subscribe.ts';
import { closeByCommits } from './commits/close-by-commits.ts';
import { closeReferencedIssues, findClosingTargets } from './commits/close-referenced-issues.ts';
import { loadReferenceTargets } from './references/reference-targets.ts';
import { peopleMentioned, recordReferences, resolveReferences } from './references/resolve-references.ts';
import { listSavedReplies, removeSavedReply, saveReply } from './replies/saved-replies.ts';
import { changeIssueSettings, countIssues, issueSettings, issueTab } from './repository-settings.ts';
import { rightsInRepository, rightsOnIssue } from './rights.ts';
import { defaultIssueSettings } from './settings.ts';
import type { IssueModuleSettings } from './settings.ts';
import { entrySchema } from './schema/entry-schema.ts';
import { issueSchema } from './schema/issue-schema.ts';

interface IssuesOptions
  extends Omit<
    IssueDeps,
    'settings' | 'announcer' | 'entryWritten' | 'rates' | 'texts' | 'textWritten' | 'reopenChecks'
  > {
  settings?: Partial<IssueModuleSettings>;
  /** Without it, words are searched only in titles. */
  texts?: TextIndex;
}

/** Issues and their logs; the functions behind these names document their errors. */
export function createIssues({ settings: given, texts, ...tools }: IssuesOptions) {
  const settings = { ...defaultIssueSettings, ...given };
  const { listenerTimeoutMs } = settings;
  const announcer = new EntryAnnouncer({ ...tools, listenerTimeoutMs, startedAt: tools.clock.now() });
  const textListeners: TextListener[] = [];
  const deps: IssueDeps = {
    ...tools,
    settings,
    announcer,
    entryWritten: (log, issue, entry) => placeByRules(log as EntryLog, issue, entry),
    rates: new RateLimiter(tools.clock, settings),
    texts: texts ?? titleIndex(tools.db),
    reopenChecks: [],
    textWritten: (text) => textListeners.forEach((listener) => listener(text)),
  };
  /** The running announcement of entries left by an earlier run. */
  let finishing: Promise<void> | null = null;

  const bind = bindDeps(deps);

  return {
    /** Opening and changing issues. */
    open: bind(openIssue),
    async find(viewer: Viewer, at: IssueAt): Promise<ListedIssue> {
      const { issue } = await findIssue(deps, viewer, at);
      return (await withDetails(deps, [issue]))[0]!;
    },
    findMoved: bind(findMovedIssue),
    kindOf: bind(kindOfIssue),
    rightsOn: bind(rightsOnIssue),
    rightsIn: bind(rightsInRepository),
    setTitle: bind(setTitle),
    update: bind(updateIssue),
    triage: bind(triage),
    triageMany: bind(triageMany),
    changeMany: bind(changeMany),
    close: bind(closeIssue),
    reopen: bind(reopenIssue),
    move: bind(moveIssue),
    trash: bind(trashIssue),
    restore: bind(restoreIssue),
    purge: bind(purgeIssue),
    listTrash: bind(listTrashedIssues),
    findTrashed: bind(findTrashedIssue),
    /** For a job. */
    emptyTrash: () => emptyIssueTrash(deps),

    listEntries: bind(listEntries),
    listRevisions: bind(listRevisions),
    comment: bind(addComment),
    findComment: bind(findComment),
    listRepositoryComments: bind(listRepositoryComments),
    editText: bind(editText),
    toggleTask: bind(toggleTask),
    deleteComment: bind(deleteComment),
    react: bind(react),
    listReactions: bind(listReactions),
    saveDraft: bind(saveDraft),
    findDraft: bind(findDraft),
    setSubscription: bind(setSubscription),
    subscriptionOf: bind(subscriptionOf),
    /** For notifications. */
    listSubscribers: bind(listSubscribers),
    readersAmong: bind(filterReaders),
    peopleMentioned: bind(peopleMentioned),
    addLink: bind(addLink),
    removeLink: bind(removeLink),
    listLinks: bind(listLinks),
    listParticipants: bind(listParticipants),

    addAttachment: bind(addAttachment),
    /** For programs: the issue text has the location of the file. */
    attach: bind(attachToIssue),
    findAttachment: bind(findAttachment),
    readAttachment: bind(readAttachment),
    listAttachments: bind(listAttachments),
    findAttachmentOf: bind(findAttachmentOf),
    removeAttachment: bind(removeAttachment),
    renameAttachment: bind(renameAttachment),
    /** For a job. */
    removeUnusedAttachments: () => removeUnusedAttachments(deps),
    /** Maximum size of a form, in bytes. */
    attachmentBytes: settings.attachmentBytes,

    /** Boards of repositories and organisations. */
    boards: {
      list: bind(listBoards),
      add: bind(addBoard),
      read: bind(readBoard),
      edit: bind(editBoard),
      delete: bind(deleteBoard),
      addColumn: bind(addColumn),
      editColumn: bind(editColumn),
      moveColumn: bind(moveColumn),
      deleteColumn: bind(deleteColumn),
      addCard: bind(addCard),
      moveCards: bind(moveCards),
      removeCards: bind(removeCards),
    },

    /** The log of an issue as JSON or Markdown, for viewers who can read it. */
    exportIssue: bind(exportIssue),
    /** All issues of a repository, for its export. No access check: for administrators. */
    exportIssues: (repositoryId: string, options?: { pulls?: ReadonlySet<number> }) =>
      exportIssues(deps, repositoryId, options),
    /** For export files about the code of pull requests. */
    portable: {
      people: (withIds: boolean) => new PeopleNames(deps, withIds),
      peopleAmong: (people: readonly (ImportedPerson | null)[], isOwn: boolean, keepsNames = false) =>
        peopleAmong(deps, people, isOwn, keepsNames),
      sealed: (text: AsyncIterable<string>) => appendMac(deps, text),
      hasSeal: (bytes: Buffer) => hasValidMac(deps, bytes),
      types: () => import('./import/field-schemas.ts'),
      check: async () => (await import('./import/read-export.ts')).check,
    },

    /**
     * Reads an export, and throws `parcel_unreadable` before anything is written; null if it has no issues. Loads the
     * validation library on first use.
     */
    checkExport: async (source: ImportSource) => (await import('./import/read-export.ts')).checkExport(deps, source),
    refuseTakenNumbers: bind(refuseTakenNumbers),
    importIssues: bind(importIssues),
    /** For following another forge. */
    followed: {
      write: bind(writeFollowedIssues),
      writeLabels: bind(writeClassification),
      storeFile: bind(storeFollowedFile),
      findFiles: bind(findFollowedFiles),
      listFiles: bind(listFollowedFiles),
      findEntries: bind(findFollowedEntries),
      writeTimes: bind(writeFollowedTimes),
      removeTimes: bind(removeFollowedTimes),
      /** Allocates a number that is used only once. */
      reserveNumber: (repositoryId: string) => deps.db.write((tx) => nextNumber(tx, repositoryId)),
    },

    list: bind(listIssues),
    listPinned: bind(listPinnedIssues),
    /** For listeners of entries, which already have the issue. */
    findEntry: bind(findEntry),
    findByIds: bind(findByIds),
    findReadable: bind(findReadable),
    /** Time tracked on issues. */
    times: {
      list: bind(listTimes),
      add: bind(addTime),
      remove: bind(removeTime),
      reset: bind(resetTime),
      watch: bind(useStopwatch),
      watches: bind(listStopwatches),
    },
    textBefore: bind(textBefore),
    /** Issue details for the API and webhooks; the caller has found the issues. */
    describe: bind(describeIssues),
    listOwn: bind(listOwnIssues),
    search: bind(searchIssues),
    count: (repositoryId: string) => countIssues(deps, repositoryId),
    /** For the header of a repository page; the caller has checked read access. */
    tab: (repositoryId: string) => issueTab(deps, repositoryId),

    listLabels: bind(listLabels),
    countLabelled: bind(countIssuesPerLabel),
    listOrganisationLabels: bind(listOrganisationLabels),
    addLabel: bind(addLabel),
    addDefaultLabels: bind(addDefaultLabels),
    listSavedReplies: bind(listSavedReplies),
    saveReply: bind(saveReply),
    removeSavedReply: bind(removeSavedReply),
    editLabel: bind(editLabel),
    deleteLabel: bind(deleteLabel),
    listMilestones: bind(listMilestones),
    findMilestone: bind(findMilestone),
    addMilestone: bind(addMilestone),
    editMilestone: bind(editMilestone),
    setMilestoneClosed: bind(setMilestoneClosed),
    deleteMilestone: bind(deleteMilestone),

    settingsOf: bind(issueSettings),
    changeSettings: bind(changeIssueSettings),
    block: bind(blockPerson),
    unblock: bind(unblockPerson),
    listBlocks: bind(listBlocks),
    hideComment: bind(hideComment),
    listHeld: bind(listHeld),
    listHeldTexts: bind(listHeldTexts),
    admit: bind(admitContributor),
    refuse: bind(refuseContributor),

    /** Resolves references in texts and commit messages to links. */
    loadReferenceTargets: bind(loadReferenceTargets),

    /** For pull requests, whose conversation is an issue: they write to its log and close referenced issues. */
    pulls: {
      open: (viewer: Viewer, at: RepositoryAt, fields: NewIssue, pull: PullPart) =>
        openIssue(deps, viewer, at, fields, pull),
      find: bind(findIssue),
      /** Runs a transaction that appends entries; see {@link writeEntries}. */
      write: <T>(viewer: Viewer, work: (log: EntryLog) => Promise<T>): Promise<T> => writeEntries(deps, viewer, work),
      /** A log inside another module's transaction; `announce` announces its entries once that is durable. */
      logIn: (tx: Tx, viewer: Viewer): EntryLog => new EntryLog(tx, viewer, deps),
      announce: (log: Pick<EntryLog, 'appended'>): void => announcer.announceAll(log.appended),
      issueInWrite: bind(issueInWrite),
      /** Counts a contribution of the viewer; throws if there are too many. */
      charge: bind(chargeRateLimit),
      holdsContribution,
      replaceReviewText,
      closingTargets: bind(findClosingTargets),
      closeNamed: bind(closeReferencedIssues),
      resolveReferences: bind(resolveReferences),
      recordReferences: bind(recordReferences),
      subscribeOnce,
      rowInWrite: ({ manager }: Tx, issueId: string) => manager.findOneBy(issueSchema, { id: issueId }),
      /** The issue text; empty if the issue is gone. */
      textOf: async (issueId: string): Promise<string> =>
        (await deps.db.read.findOneBy(entrySchema, { issueId, position: 0 }))?.body ?? '',
      /** Facts that decide about pull requests of a repository, as `source` sees them. */
      contextOf: async (source: RowSource, viewer: Viewer, repository: Repository): Promise<RepositoryContext> =>
        contextFor(await repositoryContext(deps, source, personIdOf(viewer), repository), 'PULL'),
      refuseReopen: (check: ReopenCheck): void => void deps.reopenChecks.push(check),
    },

    /** For `repositories.pushes.onPush`. */
    onPush: closeByCommits(deps),
    /** Registers a listener of entries; must precede the start, so that it receives entries left by an earlier run. */
    onEntry: (listener: EntryListener): void => announcer.add(listener),
    /** Called with each text once it is durable, to render it in advance; a crash loses the call. */
    onText: (listener: TextListener): void => void textListeners.push(listener),
    /** After the start: announces entries left by an earlier run. */
    recoverEntries: () => announcer.finish('all'),
    /** For a job: retries announcements after a transient failure. */
    finishEntries: (): Promise<void> => (finishing ??= announcer.finish('due').finally(() => (finishing = null))),
    /** Manually announces an entry once more, even a parked one. */
    announceAgain: (place: EntryPosition) => announcer.unpark(place),
    /** Waits for running announcements, up to the shutdown time limit. */
    stop: () => announcer.stop(),
  };
}

export type Issues = ReturnType<typeof createIssues>;
