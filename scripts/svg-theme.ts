/** Colours of docs/pictures, light or dark as the reader's system is. */
export const svgTheme = `
  .ground { fill: #ffffff; stroke: #d0d7de; }
  .bar { fill: #f6f8fa; }
  .text { fill: #1f2328; }
  .muted { fill: #59636e; }
  .done { fill: #1a7f64; }
  .left { fill: #d0d7de; }
  .stage { fill: #1a7f64; }
  .on-stage { fill: #ffffff; }
  .store { fill: #f6f8fa; stroke: #59636e; }
  .arrow { stroke: #59636e; fill: none; }
  .head { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #3d444d; }
    .bar { fill: #151b23; }
    .text { fill: #e6edf3; }
    .muted { fill: #9198a1; }
    .done { fill: #3fb68b; }
    .left { fill: #3d444d; }
    .stage { fill: #2c9a78; }
    .store { fill: #151b23; stroke: #9198a1; }
    .arrow { stroke: #9198a1; }
    .head { fill: #9198a1; }
  }`;

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export interface Svg {
  width: number;
  height: number;
  /** Read by screen readers. */
  title: string;
  /** Added to the theme. */
  style: string;
  /** Elements. */
  body: readonly string[];
}

/** A picture that loads nothing, neither fonts nor scripts. Pure. */
export function renderSvg({ width, height, title, style, body }: Svg): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">${escapeXml(title)}</title>
<style>${svgTheme}${style}
</style>
${body.join('\n')}
</svg>
`;
}
