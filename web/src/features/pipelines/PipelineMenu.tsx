import { ActionIcon, Menu, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconCopy, IconDotsVertical, IconDownload, IconHistory } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { asAPIError, body, exportPipeline, type Pipeline } from '@/api';
import { download } from '@/lib/download';
import { DuplicateForm } from './DuplicateForm';
import { LifecycleItems } from './LifecycleMenu';

/** What an admin can do with a pipeline as a whole. */
export function PipelineMenu({
  pipeline,
}: {
  pipeline: Pick<Pipeline, 'id' | 'name' | 'status' | 'version' | 'project_id'>;
}) {
  const [duplicating, duplicate] = useDisclosure(false);
  return (
    <>
      <Modal opened={duplicating} onClose={duplicate.close} title={`Duplicate ${pipeline.name}`}>
        <DuplicateForm pipeline={pipeline} done={duplicate.close} />
      </Modal>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={`More for ${pipeline.name}`}>
            <IconDotsVertical size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <LifecycleItems pipeline={pipeline} />
          <Menu.Divider />
          <Menu.Item leftSection={<IconCopy size={16} />} onClick={duplicate.open}>
            Duplicate…
          </Menu.Item>
          {pipeline.version > 0 && (
            <Menu.Item leftSection={<IconDownload size={16} />} onClick={() => save(pipeline, pipeline.version)}>
              Export version {pipeline.version} as YAML
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconDownload size={16} />} onClick={() => save(pipeline, 0)}>
            Export the draft as YAML
          </Menu.Item>
          <Menu.Item leftSection={<IconHistory size={16} />} component={Link} to={`/pipelines/${pipeline.id}/versions`}>
            Versions
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

/** Downloads the definition: the document that `taskloom apply` takes. */
async function save(pipeline: Pick<Pipeline, 'id' | 'name'>, version: number) {
  try {
    const out = await body(exportPipeline({ path: { pipeline_id: pipeline.id }, query: { version } }));
    download(out.filename, out.document, 'application/yaml;charset=utf-8');
  } catch (err) {
    notifications.show({ title: `Could not export ${pipeline.name}`, message: asAPIError(err).message, color: 'red' });
  }
}
