import { ActionIcon, Button, Tooltip } from '@mantine/core';
import IconCheck from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs';
import IconCopy from '@tabler/icons-react/dist/esm/icons/IconCopy.mjs';
import { useEffect, useState } from 'react';
import { copyText } from '@/lib/clipboard';
import { notify } from './notify';

interface Props {
  text: string;
  /** What is copied: "the key". */
  what: string;
  /** With words, for where copying is the main thing to do. */
  labelled?: boolean;
}

export function Copy({ text, what, labelled }: Props) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    if (await copyText(text)) setCopied(true);
    else notify.failed(`copy ${what}`, new Error('The browser does not allow it here. Select it and press Ctrl+C.'));
  };
  const Icon = copied ? IconCheck : IconCopy;
  if (labelled) {
    return (
      <Button variant="default" leftSection={<Icon size={16} aria-hidden="true" />} onClick={copy}>
        {copied ? 'Copied' : 'Copy'}
        <span className="sr-only"> {what}</span>
      </Button>
    );
  }
  return (
    <Tooltip label={copied ? 'Copied' : 'Copy'}>
      <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={copied ? `Copied ${what}` : `Copy ${what}`}>
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
