/**
 * The record in the view's place. A page that was loaded anew does not know which output the
 * kernel's update means, and would save the view; it finds the output by its model.
 */

const VIEW_MIME = 'application/vnd.jupyter.widget-view+json';

/**
 * @param {import('./messages.js').WidgetManager | undefined} manager
 * @param {{model: string, record: object}} message
 * @returns {boolean} whether the record stands in some output
 */
export function placeRecord(manager, { model, record }) {
  let isPlaced = false;
  for (const { outputs } of manager?.context?.model?.cells ?? []) {
    for (let index = 0; outputs && index < outputs.length; index++) {
      if (outputs.get(index).data[VIEW_MIME]?.model_id !== model) continue;
      outputs.set(index, { output_type: 'display_data', data: record, metadata: {} });
      isPlaced = true;
    }
  }
  return isPlaced;
}
