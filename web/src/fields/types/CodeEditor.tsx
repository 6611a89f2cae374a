import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, { EditorView, type Extension } from '@uiw/react-codemirror';
import { useEffect, useMemo, useState } from 'react';
import classes from './Code.module.css';
import { loadLanguage } from './languages';

export interface CodeEditorProps {
  value: string;
  /** Absent for reading. */
  onChange?: (text: string) => void;
  language?: string;
  /** What the editor is called to screen readers. */
  label: string;
  describedBy?: string;
  placeholder?: string;
  readOnly?: boolean;
  error?: boolean;
  required?: boolean;
}

/**
 * CodeMirror. Tab leaves it, as from any other control, so that nobody is caught inside; Ctrl+] indents. Escape, too,
 * goes on to the page.
 */
export default function CodeEditor(p: CodeEditorProps) {
  const scheme = useComputedColorScheme('light');
  const [language, setLanguage] = useState<Extension[]>([]);
  useEffect(() => {
    let current = true;
    loadLanguage(p.language ?? '').then(
      (loaded) => current && setLanguage(loaded),
      () => {}, // offline: the code is only not coloured
    );
    return () => {
      current = false;
    };
  }, [p.language]);
  const { label, describedBy, required, error } = p;
  const extensions = useMemo(() => {
    const attributes: Record<string, string> = { 'aria-label': label };
    if (describedBy) attributes['aria-describedby'] = describedBy;
    if (required) attributes['aria-required'] = 'true';
    if (error) attributes['aria-invalid'] = 'true';
    return [...language, EditorView.lineWrapping, EditorView.contentAttributes.of(attributes)];
  }, [language, label, describedBy, required, error]);
  return (
    <div className={classes.box} data-error={p.error || undefined}>
      <CodeMirror
        value={p.value}
        onChange={p.onChange}
        extensions={extensions}
        theme={scheme}
        placeholder={p.placeholder}
        readOnly={p.readOnly || !p.onChange}
        indentWithTab={false}
        minHeight={p.onChange ? '120px' : undefined}
        maxHeight="60vh"
        basicSetup={{ foldGutter: false, autocompletion: false, highlightActiveLine: Boolean(p.onChange) }}
      />
    </div>
  );
}
