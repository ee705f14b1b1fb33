/** Labels, milestones and releases of an export, in the format of Gitea's `restore-repo`. */

export interface DumpedLabel {
  name: string;
  color: string;
  description: string;
  exclusive: boolean;
}

interface ExportedLabel {
  name: string;
  colour: string;
  description: string;
  isExclusive: boolean;
}

export const dumpLabels = (labels: ExportedLabel[]): DumpedLabel[] =>
  labels.map(({ name, colour, description, isExclusive }) => ({
    name,
    color: colour,
    description,
    exclusive: isExclusive,
  }));

interface ExportedMilestone {
  title: string;
  description: string;
  dueOn: string | null;
  closedAt: string | null;
  createdAt: string;
}

export const dumpMilestones = (milestones: ExportedMilestone[]): object[] =>
  milestones.map(({ title, description, dueOn, closedAt, createdAt }) => ({
    title,
    description,
    deadline: dueOn === null ? null : `${dueOn}T00:00:00Z`,
    created: createdAt,
    updated: closedAt ?? createdAt,
    closed: closedAt,
    state: closedAt === null ? 'open' : 'closed',
  }));

interface ExportedRelease {
  tag: string;
  target: string;
  title: string;
  body: string;
  isDraft: boolean;
  isPrerelease: boolean;
  author: string | null;
  createdAt: string;
  publishedAt: string | null;
  files: { name: string; bytes: number; sha256: string; downloads: number; createdAt: string }[];
}

export const dumpRelease = (release: ExportedRelease): object => ({
  tag_name: release.tag,
  target_commitish: release.target,
  name: release.title || release.tag,
  body: release.body,
  draft: release.isDraft,
  prerelease: release.isPrerelease,
  publisher_id: 0,
  publisher_name: release.author ?? 'ghost',
  publisher_email: '',
  assets: release.files.map(({ name, bytes, sha256, downloads, createdAt }, at) => ({
    id: at + 1,
    name,
    size: bytes,
    download_count: downloads,
    created: createdAt,
    updated: createdAt,
    download_url: `release_assets/${sha256}`,
  })),
  created: release.createdAt,
  published: release.publishedAt ?? release.createdAt,
});
