import { z } from 'zod';
import { release, releaseFile } from '../../../gitea-shapes/schemas.ts';

export { release, releaseFile };

const optionalText = (max: number) => z.string().max(max).optional();

export const releaseEdit = z.strictObject({
  tag_name: optionalText(200).describe('Only for drafts: the tag of a published release cannot change'),
  tag_message: optionalText(10_000).describe('Message of an annotated tag to create'),
  target_commitish: optionalText(200).describe(
    'Target of a tag that does not exist yet; defaults to the default branch',
  ),
  name: optionalText(255),
  body: optionalText(65_536),
  draft: z.boolean().optional(),
  prerelease: z.boolean().optional(),
  make_latest: z
    .enum(['true', 'false', 'legacy'])
    .optional()
    .describe('As on GitHub: `false` for a fix to an older version, which never becomes the latest release'),
});

export const newRelease = releaseEdit.extend({ tag_name: z.string().max(200) });

export const releaseFileEdit = z.strictObject({ name: z.string().max(255) });

export const newTag = z.strictObject({
  tag_name: z.string().max(200),
  target: optionalText(200).describe('Branch, tag or commit; defaults to the default branch'),
  message: optionalText(10_000).describe('Message of an annotated tag, which the server signs'),
});

export const generatedNotes = z.strictObject({
  body: z.string(),
  previous: z.string().nullable().describe('Tag after which the notes start'),
});
