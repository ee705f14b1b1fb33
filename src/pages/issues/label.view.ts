/** A label as a page shows it. */
export interface LabelView {
  name: string;
  /** For the dot: `#d73a4a`. */
  colour: string;
  description: string;
}

/** @param label as it is now, or as the log keeps it */
export const viewLabel = (label: { name: string; colour: string; description?: string }): LabelView => ({
  name: label.name,
  colour: /^[0-9a-f]{6}$/i.test(label.colour) ? `#${label.colour}` : '#808080',
  description: label.description ?? '',
});
