#pragma once

namespace iwarp::verbs::soft {

template <typename T, typename Tag>
class LinkedList;

/// What an element derives from to be in a list. An element that derives from several, of different
/// `Tag`s, is in as many lists at once. Neither it nor the list allocates. Not thread-safe.
template <typename Tag>
class ListLink {
 public:
  ListLink() = default;
  ListLink(const ListLink&) = delete;
  ListLink& operator=(const ListLink&) = delete;

  /// Takes the element out of the list it is in, if it is in one.
  void leave() {
    before_->behind_ = behind_;
    behind_->before_ = before_;
    before_ = behind_ = this;
  }

 private:
  template <typename T, typename OfList>
  friend class LinkedList;

  void enter_before(ListLink& other) {
    before_ = other.before_;
    behind_ = &other;
    before_->behind_ = other.before_ = this;
  }

  ListLink* before_ = this;
  ListLink* behind_ = this;
};

/// Elements that others own, in an order; each is in one list of this `Tag` at most. One that goes
/// leaves first, and so do all before the list goes.
template <typename T, typename Tag>
class LinkedList {
 public:
  [[nodiscard]] bool empty() const { return end_.behind_ == &end_; }
  /// Null if there is none.
  [[nodiscard]] T* front() { return empty() ? nullptr : static_cast<T*>(end_.behind_); }
  /// Precondition: the element is in no list of this `Tag`.
  void push_front(T& element) { link(element).enter_before(*end_.behind_); }
  /// The same.
  void push_back(T& element) { link(element).enter_before(end_); }
  /// The first for which `condition` holds; null if there is none.
  template <typename Condition>
  [[nodiscard]] T* find(Condition condition) {
    for (ListLink<Tag>* each = end_.behind_; each != &end_; each = each->behind_) {
      if (T& element = static_cast<T&>(*each); condition(element)) return &element;
    }
    return nullptr;
  }

 private:
  static ListLink<Tag>& link(T& element) { return element; }

  ListLink<Tag> end_;  // before the first and behind the last
};

}  // namespace iwarp::verbs::soft
