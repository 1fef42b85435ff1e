/** The mark in the title of a hidden tab: something waits for the reader. */

const BADGE = '(?) ';

export class TitleBadge {
  #isAsking = false;

  /** @param {boolean} isAsking */
  set(isAsking) {
    this.#isAsking = isAsking;
    const title = document.title.replace(BADGE, '');
    document.title = isAsking && document.hidden ? BADGE + title : title;
  }

  /** The tab was hidden or shown. */
  update() {
    this.set(this.#isAsking);
  }

  /** The application writes its title anew now and then. */
  tick() {
    if (this.#isAsking) this.update();
  }
}
