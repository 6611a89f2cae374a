import { defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView, type Extension } from '@uiw/react-codemirror';

/** CodeMirror's own colours, on dark paper mixed with white until they can be read (WCAG AA). */
const style = HighlightStyle.define(
  defaultHighlightStyle.specs.map((s) =>
    typeof s.color === 'string'
      ? { ...s, color: `light-dark(${s.color}, color-mix(in oklab, ${s.color} 40%, white))` }
      : s,
  ),
);

const paper = EditorView.theme({
  '&': { backgroundColor: 'var(--mantine-color-body)', color: 'var(--mantine-color-text)' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--mantine-color-default-hover)',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--mantine-color-default-hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'light-dark(#c5d8ff, #34456b)',
  },
});

/** The look of code in both colour schemes; goes with `theme="none"`. */
export const codeTheme: Extension = [paper, syntaxHighlighting(style)];
