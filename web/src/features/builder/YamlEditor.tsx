import { yaml } from '@codemirror/lang-yaml';
import CodeMirror, { Decoration, EditorView, type ReactCodeMirrorRef } from '@uiw/react-codemirror';
import { useEffect, useMemo, useRef } from 'react';
import { codeTheme } from '@/ui/codeTheme';
import type { Fault } from './Yaml';

interface Props {
  value: string;
  onChange: (text: string) => void;
  readOnly?: boolean;
  faults: readonly Fault[];
  /** A line to go to; a new object each time. */
  goTo: { line: number } | null;
}

/** CodeMirror for YAML, with the faulty lines marked. It comes when it is opened, not with the page. */
export default function YamlEditor({ value, onChange, readOnly, faults, goTo }: Props) {
  const editor = useRef<ReactCodeMirrorRef>(null);
  const lines = useMemo(() => faults.map((f) => f.line).filter((n) => n > 0), [faults]);
  const extensions = useMemo(
    () => [
      yaml(),
      codeTheme,
      EditorView.contentAttributes.of({ 'aria-label': 'Definition in YAML', tabindex: '0' }),
      EditorView.theme({
        '.cm-fault': { backgroundColor: 'color-mix(in srgb, var(--mantine-color-red-6) 22%, transparent)' },
      }),
      EditorView.decorations.of((view) =>
        Decoration.set(
          [...new Set(lines)]
            .filter((n) => n <= view.state.doc.lines)
            .sort((a, b) => a - b)
            .map((n) => Decoration.line({ class: 'cm-fault' }).range(view.state.doc.line(n).from)),
        ),
      ),
    ],
    [lines],
  );
  useEffect(() => {
    const view = editor.current?.view;
    const line = goTo?.line ?? lines[0];
    if (!view || !line || line > view.state.doc.lines) return;
    const at = view.state.doc.line(line).from;
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) });
    view.focus();
  }, [goTo, lines]);
  return (
    <CodeMirror
      ref={editor}
      value={value}
      onChange={onChange}
      readOnly={readOnly}
      theme="none"
      extensions={extensions}
      indentWithTab={false}
      height="min(60vh, 560px)"
      basicSetup={{ autocompletion: false }}
    />
  );
}
